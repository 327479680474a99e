// The protocols between messages and sockets: a two-way channel of bytes with one ordered outgoing queue. Knows no frames.
//
// A channel may wrap another one, as TLS does. Then it is the receiver of that channel, and writes the encrypted bytes to it.

package protocol ByteChannel: AnyObject, Sendable {
    /// The loop on which the receiver is called.
    var loop: any Loop { get }

    /// The address of the peer, for logs and for `Caller`.
    var remoteAddress: String { get }

    /// What is known for certain of who the peer is; nil if nothing is. Asked for on the loop when the first bytes have come, so
    /// a channel may find it out in a handshake.
    var peer: PeerProof? { get }

    /// Whether arriving bytes would be delivered now. Called on the loop.
    var isReading: Bool { get }

    /// Sets the receiver and begins delivery. Called once.
    func open(_ receiver: any ByteReceiver)

    /// Puts bytes at the end of the outgoing queue, all together: other threads' bytes come before or after them. It never
    /// blocks, sends or calls other code but `fill`, so a caller may hold its own lock. Queues nothing when the channel has
    /// ended.
    /// - Parameter fill: appends the bytes to the queue; is given the offset at which they begin. Called at most once.
    /// - Returns: the offset of the first of these bytes among all bytes that this end writes.
    @discardableResult
    func write(_ fill: (_ queue: inout SendBuffer, _ offset: UInt64) -> Void) -> UInt64

    /// How many written bytes the system has not taken yet. Callable from any thread.
    var waiting: Int { get }

    /// Whether so many bytes wait that a message which can wait elsewhere should do so. The receiver's `outputChanged` tells when
    /// this has become false. Callable from any thread, also under a lock.
    var isCrowded: Bool { get }

    /// Sends the queued bytes: on the loop at the end of the turn, elsewhere at once unless another thread is sending already. The
    /// hint may make it sooner.
    func flush(_ hint: FlushHint)

    /// Continues to read after the receiver's `wantsMore` was false. Called on the loop.
    func resumeReading()

    /// Gives memory back that is not in use. Called on the loop.
    func releaseRoom()

    /// Sends the queued bytes, then ends the channel in an orderly way, so that the peer can read the last bytes.
    func close()

    /// Ends the channel now. Queued bytes that are not sent yet are never sent.
    func abort()

    /// Gives the connection to a new channel on another loop. The new channel waits to be opened. This channel neither receives
    /// nor sends any more, and tells its receiver nothing. The offsets of the new channel begin at 0. Called on the loop.
    /// - Returns: nil when the connection has ended or the peer sends no more, when written bytes wait that the system does not
    ///   take, or when the loop is of another kind.
    func moved(to loop: any Loop) -> (any ByteChannel)?
}

extension ByteChannel {
    package var peer: PeerProof? { nil }
    package var isReading: Bool { true }
    package var waiting: Int { 0 }
    package var isCrowded: Bool { false }
    package func releaseRoom() {}
    package func flush() { flush(.more) }

    /// Puts these bytes at the end of the outgoing queue, as `write(_:)` with a closure does.
    @discardableResult
    package func write(_ bytes: UnsafeRawBufferPointer) -> UInt64 { write { queue, _ in queue.append(bytes) } }
}

/// What is known for certain of the program at the other end of a channel.
package enum PeerProof: Sendable, Equatable {
    /// The system says which user runs it.
    case user(UInt32)
    /// It is part of this process, which gives it this name and these roles.
    case named(String, roles: Set<String>)
    /// It has shown a certificate that is trusted and has this name.
    case certificate(String)
}

/// What the code that flushes knows about further output. A channel may ignore it.
package enum FlushHint: Sendable {
    /// More may be sent in this turn of the loop.
    case more
    /// The calling code does nothing more in this turn. If no other work is left, the channel can send at once, and the rest of
    /// the turn runs while the bytes travel.
    case last
    /// The turn is over: a channel that wraps another one has sealed what the turn has queued.
    case now
}

package protocol ByteReceiver: AnyObject, Sendable {
    /// Bytes from the peer, in the order in which it sent them. Called on the loop.
    func received(_ bytes: Bytes)

    /// Whether the channel should continue to read. A receiver that returns false calls `resumeReading` when it can take more.
    /// Meanwhile a peer that sends faster than it is served has to wait.
    var wantsMore: Bool { get }

    /// Written bytes have begun to wait for the peer, or fewer wait than before. Called on the loop; not for bytes that leave at
    /// once, unless the channel was crowded.
    func outputChanged()

    /// Reading has paused because the peer does not read its waiting output. Called on the loop.
    func pausedReading()

    /// The peer sends no more but may still read, as `nc -N` after its last line. Called on the loop, at most once.
    /// - Returns: whether this end still has something to send. If so, the channel stays open until `close`. If not, the
    ///   channel ends when its queue has been sent.
    func peerFinished() -> Bool

    /// The channel has ended, by either end. Called on the loop, exactly once after `open`, as the last call.
    /// - Parameter sent: the offset up to which written bytes were handed to the system. A message that begins at this offset
    ///   or later was certainly not sent.
    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64)
}

extension ByteReceiver {
    package var wantsMore: Bool { true }
    package func outputChanged() {}
    package func pausedReading() {}
    package func peerFinished() -> Bool { false }
}

/// Why a channel has ended.
package enum ChannelEnd: Sendable, Equatable {
    /// This end called `close` or `abort`.
    case local
    /// The peer closed in an orderly way. Bytes queued before that were still sent, if the peer took them.
    case remote
    /// The peer read nothing for too long, or did not answer its system's question. With the limit, and a description.
    case overrun(Limit, String)
    /// The system reported a fault; the text has the system call and its errno. Or TLS did.
    case failed(String)
    /// What has come cannot be opened: it is broken, was changed on its way, or is not of TLS. With what is wrong.
    case broken(String)
    /// The peer has refused the certificate of this end, or asks for one. With what it said.
    case refused(String)
}
