// The seam between messages and sockets: a two-way channel of bytes with one ordered outgoing queue. It knows nothing of frames.
//
// A channel may stand around another one, as TLS does: it is the other one's receiver, and writes to it what it has encrypted.

package protocol ByteChannel: AnyObject, Sendable {
    /// The loop on which the receiver is told what happens.
    var loop: any Loop { get }

    /// The address of the other end, for logs and for `Caller`.
    var remoteAddress: String { get }

    /// The user who runs the other end, where the system knows.
    var peerUser: UInt32? { get }

    /// Whether bytes that arrive would be delivered. On the loop.
    var isReading: Bool { get }

    /// Begins delivery. Called once.
    func open(_ receiver: any ByteReceiver)

    /// Puts bytes at the end of the outgoing queue, together: bytes of other threads come before or after them. Never blocks,
    /// never calls out and never sends, so it is safe under the caller's own lock. When the channel has ended, nothing is queued.
    /// - Parameter fill: appends the bytes to the queue, given the offset at which they begin. Called once at most.
    /// - Returns: the offset of the first of these bytes among all that this end writes.
    @discardableResult
    func write(_ fill: (_ queue: inout SendBuffer, _ offset: UInt64) -> Void) -> UInt64

    /// Sends what is queued: on the loop at the end of the turn, elsewhere at once unless another thread already does.
    func flush(_ hint: FlushHint)

    /// Reads on, after the receiver did not want more. On the loop.
    func resumeReading()

    /// Sends what is queued, then ends the channel in an orderly way, so that the peer can read the last bytes.
    func close()

    /// Ends the channel now. What is queued and not yet sent never will be.
    func abort()

    /// Gives the connection to a new channel on that loop, which waits to be opened. This channel then neither receives nor sends
    /// any more, and tells its receiver nothing. On the loop, before anything has been written.
    /// - Returns: nil when the connection has ended, or cannot live on that loop.
    func moved(to loop: any Loop) -> (any ByteChannel)?
}

extension ByteChannel {
    package var peerUser: UInt32? { nil }
    package var isReading: Bool { true }
    package func flush() { flush(.more) }

    /// Puts these bytes at the end of the outgoing queue. See above.
    @discardableResult
    package func write(_ bytes: UnsafeRawBufferPointer) -> UInt64 { write { queue, _ in queue.append(bytes) } }

    package func moved(to loop: any Loop) -> (any ByteChannel)? { nil }
}

/// What the code that flushes knows of what follows. A channel may ignore it.
package enum FlushHint: Sendable {
    /// There may be more to send in this turn of the loop.
    case more
    /// The calling code does nothing more in this turn. If no other code does either, what is queued can be sent at once, and
    /// the rest of the turn is done while it travels.
    case last
}

package protocol ByteReceiver: AnyObject, Sendable {
    /// Bytes in the order in which they were sent. Called on the loop.
    func received(_ bytes: Bytes)

    /// Whether the channel should go on reading. A receiver that says no calls `resumeReading` when it can take more, so
    /// that a peer that sends faster than it is served has to wait.
    var wantsMore: Bool { get }

    /// Nothing more is read because the peer does not read what waits for it. Called on the loop.
    func pausedReading()

    /// The peer says no more but may still read, as `nc -N` does after its last line. Called on the loop, at most once.
    /// - Returns: whether something is still to be said; then the channel stays open until `close` is called.
    ///   Otherwise it ends when what is queued has been sent.
    func peerFinished() -> Bool

    /// The channel has ended, whichever end ended it. Called on the loop, exactly once after `open`, and last.
    /// - Parameter sent: the offset up to which written bytes were handed to the system. A message that begins there or later
    ///   provably never left.
    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64)
}

extension ByteReceiver {
    package var wantsMore: Bool { true }
    package func pausedReading() {}
    package func peerFinished() -> Bool { false }
}

/// Why a channel has ended.
package enum ChannelEnd: Sendable, Equatable {
    /// This end called `close` or `abort`.
    case local
    /// The peer closed in an orderly way. What had been queued before was still sent, if the peer took it.
    case remote
    /// The peer took too long to read or to acknowledge, or left too much unread: the limit, and what happened in words.
    case overrun(Limit, String)
    /// The system reported a fault; the text names the system call and its errno.
    case failed(String)
}
