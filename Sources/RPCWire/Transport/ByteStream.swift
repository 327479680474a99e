// The seam between sessions and sockets: a two-way stream of bytes with one ordered outgoing queue.
//
// Two conformers: `SocketStream` over an event loop, and `InMemoryStream`, whose other end is another one. TLS
// will be a third. Sessions know nothing below this line; sockets know nothing above it.

package protocol ByteStream: AnyObject, Sendable {
    /// The loop on which the receiver is told what happens.
    var loop: any Loop { get }

    /// Who is at the other end, for logs and for `Caller`.
    var remoteAddress: String { get }

    /// The user who runs the other end, where the system knows.
    var peerUser: UInt32? { get }

    /// Whether bytes that come would be delivered. On the loop.
    var isReading: Bool { get }

    /// Begins delivery. Called once.
    func open(_ receiver: any ByteStreamReceiver)

    /// Puts one message, framed, at the end of the outgoing queue and returns the stream offset of its first
    /// byte. Never blocks, never calls out, never sends: safe under the caller's own lock. After the stream has
    /// ended the message is dropped.
    @discardableResult
    func append(_ payload: UnsafeRawBufferPointer, framing: Framing) -> UInt64

    /// The same for a large message, which others may have as well and which is not to be copied if that can be helped.
    @discardableResult
    func append(shared message: Bytes, framing: Framing) -> UInt64

    /// Sends what is queued: on the loop at the end of the turn, elsewhere at once unless another thread already does.
    func flush(_ hint: FlushHint)

    /// The receiver, which did not want more, wants more again. On the loop.
    func resumeReading()

    /// Sends what is queued, then ends the stream in an orderly way, so that the peer can read the last bytes.
    func finish()

    /// Ends the stream now. What is queued and not yet sent never will be.
    func abort()

    /// Takes the connection away from this stream, which then neither receives nor sends any more nor tells anybody,
    /// and gives it to a new one on another loop, or on the same, that waits to be opened. On the loop, before anything
    /// has been sent. Nil when the connection has ended.
    func handOver(to loop: any Loop) -> (any ByteStream)?
}

package protocol ByteStreamReceiver: AnyObject, Sendable {
    /// Bytes in the order they were sent. Called on the loop.
    func received(_ bytes: Bytes)

    /// Whether the stream should go on reading. A receiver that says no calls `resumeReading` when it can take more, so
    /// that a peer that sends faster than it is served has to wait.
    var wantsMore: Bool { get }

    /// Nothing more is read because the peer does not read what waits for it. Called on the loop.
    func pausedReading()

    /// The peer says no more but may still read, as `nc -N` does after its last line. Called on the loop, at most once.
    /// - Returns: whether something is still to be said; then the stream stays open until `finish` is called.
    ///   Otherwise it ends when what is queued has been sent.
    func peerFinished() -> Bool

    /// The stream has ended, whoever ended it. Called on the loop, exactly once after `open`, and last.
    /// - Parameter sent: how many bytes of the outgoing queue were handed to the system. A message that begins at
    ///   or after this offset provably never left.
    func ended(_ end: StreamEnd, sent: UInt64)
}

extension ByteStream {
    package var peerUser: UInt32? { nil }
    package var isReading: Bool { true }
    package func flush() { flush(.more) }

    @discardableResult
    package func append(shared message: Bytes, framing: Framing) -> UInt64 {
        message.withUnsafeBytes { append($0, framing: framing) }
    }
}

/// What the code that flushes knows of what follows. A stream may ignore it.
package enum FlushHint: Sendable {
    /// There may be more to send in this turn of the loop.
    case more
    /// The calling code does nothing more in this turn. If no other code does either, what is queued can be sent at once, and
    /// the rest of the turn is done while it travels.
    case last
}

extension ByteStreamReceiver {
    package var wantsMore: Bool { true }
    package func pausedReading() {}
    package func peerFinished() -> Bool { false }
}

package enum StreamEnd: Sendable, Equatable {
    /// This side called `finish` or `abort`.
    case local
    /// The peer closed in an orderly way. What had been queued before was still sent, if the peer took it.
    case remote
    /// The peer took too long to read or to acknowledge, or left too much unread: the limit, and what happened in words.
    case overrun(Limit, String)
    /// The system reported a fault; the text names the system call and its errno.
    case failed(String)
}
