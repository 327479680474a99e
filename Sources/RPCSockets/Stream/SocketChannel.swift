// A connected socket as a channel of bytes. It queues what is written, sends it from whichever thread flushes, and tells the
// receiver on the loop what arrives and how the channel ended. This file is what any thread may call.

package import RPCWire

/// `@unchecked Sendable`: only `flight` is not. It belongs to the thread that has the writer's place in `outgoing`.
package final class SocketChannel: ByteChannel, @unchecked Sendable {
    package let remoteAddress: String
    /// The user who runs the other end of a Unix-domain socket.
    package let peerUser: UInt32?
    package var loop: any Loop { eventLoop }

    let eventLoop: EventLoop
    let socket: Socket
    let limits: OutputLimits
    let pausesReading: Bool
    let outgoing: Lock<Outgoing>
    /// What the present writer is sending.
    var flight = SendBuffer()
    private let bound: LoopBound<State>

    /// What belongs to the loop's thread.
    struct State {
        var receiver: (any ByteReceiver)?
        var registration: Registration?
        var interest: Readiness = .reading
        /// The last read was so big that the next one gets more room.
        var readsMuch = false
        var batch = WriteBatch()
        /// The receiver has asked for the end: what still arrives is thrown away.
        var discards = false
        var hasReadEnd = false
        var patience: (any LoopTimer)?
        /// Set when all has been sent, and its end.
        var lingering: (any LoopTimer)?
        var outcome: (end: ChannelEnd, sent: UInt64)?
    }

    /// - Parameters:
    ///   - pausesReading: whether reading pauses while the peer does not read. For servers, whose peers have dialled: if both
    ///     ends did so, two that have much to say to each other would wait for ever.
    package init(
        _ socket: Socket, on loop: EventLoop, remoteAddress: String, limits: OutputLimits = OutputLimits(),
        pausesReading: Bool = false
    ) {
        self.socket = socket
        self.eventLoop = loop
        self.remoteAddress = remoteAddress
        self.limits = limits
        self.pausesReading = pausesReading
        outgoing = Lock(Outgoing())
        bound = LoopBound(State(), of: loop)
        peerUser = socket.peerUser
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
        let (offset, isOverLimit) = outgoing.withLock { $0.write(limit: limits.maximum, fill) }
        if isOverLimit { overrun() }
        return offset
    }

    private func overrun() {
        end(
            .overrun(
                .maximumQueuedOutput,
                "the peer reads too slowly: more than \(limits.maximum) bytes wait for it (maximumQueuedOutput)"))
    }

    package func flush(_ hint: FlushHint) {
        guard eventLoop.isCurrent else { return writeQueued() }
        if hint == .last && eventLoop.isAtEndOfTurn { writeQueued() } else { flushLater() }
    }

    package func close() {
        guard outgoing.withLock({ $0.finish(.local) }) else { return }
        flush()
    }

    package func abort() { end(.local) }

    package func moved(to loop: any Loop) -> (any ByteChannel)? {
        // Ended at once: one that finishes would read on, and what it reads is the other's.
        guard let other = loop as? EventLoop, !state.hasReadEnd,
            outgoing.withLock({ $0.phase == .open && $0.isIdle && $0.end(.local) })
        else { return nil }
        if let registration = state.registration { eventLoop.deregister(registration) }
        state.registration = nil
        state.receiver = nil
        state.outcome = (.local, 0)
        return SocketChannel(
            socket, on: other, remoteAddress: remoteAddress, limits: limits, pausesReading: pausesReading)
    }

    /// Ends the channel from anywhere. The descriptor is closed and the receiver told on the loop, never from in here.
    func end(_ end: ChannelEnd) {
        guard outgoing.withLock({ $0.end(end) }) else { return }
        eventLoop.submit { [self] in release() }
    }
}
