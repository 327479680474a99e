// A connected socket as a channel of bytes. Queues written bytes, sends them from the thread that flushes, and tells the
// receiver on the loop what arrives and how the channel has ended. This file has the members that any thread may call.

package import RPCWire
import Synchronization

/// `@unchecked Sendable`: only `sending` needs it. It belongs to the thread that is the writer according to `outgoing`.
package final class SocketChannel: ByteChannel, @unchecked Sendable {
    package let remoteAddress: String
    package let peer: PeerProof?
    package var loop: any Loop { eventLoop }

    let eventLoop: EventLoop
    let socket: Socket
    let limits: OutputLimits
    let pausesReading: Bool
    /// Whether more bytes wait than `limits.pauseReading`. Changed under the lock of `outgoing`, and read without it.
    let crowded = Atomic(false)
    let outgoing: Lock<OutputQueue>
    /// The bytes that the present writer is sending.
    var sending = SendBuffer()
    private let bound: LoopBound<State>

    /// The state that only the loop's thread touches.
    struct State {
        var receiver: (any ByteReceiver)?
        var registration: Registration?
        var interest: Readiness = .reading
        /// Whether the last read was so big that the next one gets more room.
        var readsMuch = false
        /// Whether arriving bytes are thrown away, because the channel is closing.
        var discards = false
        var hasReadEnd = false
        var batch = WriteBatch()
        var patience: (any LoopTimer)?
        /// The timer that waits for the peer to end. Set when everything and the end have been sent.
        var lingering: (any LoopTimer)?
        var outcome: (end: ChannelEnd, sent: UInt64)?
    }

    /// - Parameters:
    ///   - pausesReading: whether reading pauses while the peer does not read. Only for servers, whose peers have dialled: if
    ///     both ends paused, two ends that have much to send to each other would wait for ever.
    ///   - peer: what is known of the peer; nil for what the system says of a Unix-domain socket.
    package init(
        _ socket: Socket, on loop: EventLoop, remoteAddress: String, limits: OutputLimits = OutputLimits(),
        pausesReading: Bool = false, peer: PeerProof? = nil
    ) {
        self.socket = socket
        self.eventLoop = loop
        self.remoteAddress = remoteAddress
        self.limits = limits
        self.pausesReading = pausesReading
        outgoing = Lock(OutputQueue())
        bound = LoopBound(State(), of: loop)
        self.peer = peer ?? socket.peerUser.map { .user($0) }
        socket.prepareForMessages(limits)
    }

    var state: State {
        @inline(__always) _read { yield bound.value }
        @inline(__always) _modify { yield &bound.value }
    }

    package var isReading: Bool { state.interest.contains(.reading) }

    package func open(_ receiver: any ByteReceiver) {
        if eventLoop.isCurrent { begin(receiver) } else { eventLoop.submit { [self] in begin(receiver) } }
    }

    @discardableResult
    package func write(_ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 {
        outgoing.withLock { outgoing in
            let offset = outgoing.write(fill)
            if outgoing.waiting > limits.pauseReading { crowded.store(true, ordering: .relaxed) }
            return offset
        }
    }

    package var waiting: Int { outgoing.withLock { $0.waiting } }
    package var isCrowded: Bool { crowded.load(ordering: .relaxed) }

    package func flush(_ hint: FlushHint) {
        // By pattern: `==` on another module's enum goes through a table.
        if case .now = hint { return writeQueued() }
        if eventLoop.isCurrent { writeLater(hint) } else { writeQueued() }
    }

    package func close() {
        guard outgoing.withLock({ $0.finish(.local) }) else { return }
        flush()
    }

    package func abort() { end(.local) }

    package func moved(to loop: any Loop) -> (any ByteChannel)? {
        // What was queued in this turn, such as the end of a handshake.
        writeQueued()
        // Ends at once. A channel that only finishes would read on, and take bytes that belong to the new channel.
        guard let other = loop as? EventLoop, !state.hasReadEnd,
            outgoing.withLock({ $0.phase == .open && $0.isIdle && $0.end(.local) })
        else { return nil }
        deregister()
        state.receiver = nil
        state.outcome = (.local, 0)
        return SocketChannel(
            socket, on: other, remoteAddress: remoteAddress, limits: limits, pausesReading: pausesReading,
            peer: peer)
    }

    /// Ends the channel; any thread may call it. Later, on the loop, the descriptor is closed and the receiver is told.
    func end(_ end: ChannelEnd) {
        guard outgoing.withLock({ $0.end(end) }) else { return }
        eventLoop.submit { [self] in release() }
    }
}
