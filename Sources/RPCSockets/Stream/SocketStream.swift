// A connected socket as a stream of messages. Queues what is appended, sends it from whichever thread flushes, tells
// the receiver on the loop what arrives and how it ended. This file is what everybody may call from anywhere.

package import RPCWire
import Synchronization

/// `@unchecked Sendable`: `outgoing` is a lock; `flight` belongs to whoever holds the writer's place in it; what stands
/// under "The loop's own" is touched only on the loop.
package final class SocketStream: ByteStream, @unchecked Sendable {
    package let remoteAddress: String
    /// The user who runs the other end of a Unix-domain socket.
    package let peerUser: UInt32?
    package var loop: any Loop { eventLoop }
    package var isReading: Bool { interest.contains(.reading) }

    let eventLoop: EventLoop
    let socket: Socket
    let limits: OutputLimits
    let pausesReading: Bool
    let outgoing: Lock<Outgoing>
    /// What the present writer is sending.
    @exclusivity(unchecked) var flight = SendBuffer()

    // The loop's own.
    @exclusivity(unchecked) var receiver: (any ByteStreamReceiver)?
    var registration: Registration?
    @exclusivity(unchecked) var interest: Interest = .reading
    /// The last read was so big that the next gets more room.
    @exclusivity(unchecked) var readsMuch = false
    /// Already on the loop's list of streams to flush.
    @exclusivity(unchecked) var isUnflushed = false
    @exclusivity(unchecked) var unflushedMessages = 0
    @exclusivity(unchecked) var messagesInNextWrite = 0
    /// How many messages of one turn leave in its first write, unless it ends before.
    @exclusivity(unchecked) var messagesInFirstWrite = SocketStream.usualFirstWrite
    /// The receiver has asked for the end: what still arrives is thrown away.
    @exclusivity(unchecked) var discards = false
    var hasSentEnd = false
    @exclusivity(unchecked) var hasReadEnd = false
    var patience: (any LoopTimer)?
    var lingering: (any LoopTimer)?
    @exclusivity(unchecked) var outcome: (end: StreamEnd, sent: UInt64)?

    /// - Parameter pausesReading: whether a peer that does not read is not read from either. For servers, whose peers have
    ///   dialled: if both ends did so, two that have much to say to each other would wait for ever.
    package init(
        _ socket: Socket, on loop: EventLoop, remoteAddress: String, limits: OutputLimits = OutputLimits(),
        pausesReading: Bool = false
    ) {
        self.socket = socket
        self.eventLoop = loop
        self.remoteAddress = remoteAddress
        self.limits = limits
        self.pausesReading = pausesReading
        outgoing = Lock(Outgoing(tellsFraming: !pausesReading))
        peerUser = socket.peerUser
        socket.prepareForMessages(limits)
    }

    package func open(_ receiver: any ByteStreamReceiver) {
        if eventLoop.isCurrent { begin(receiver) } else { eventLoop.submit { [self] in begin(receiver) } }
    }

    @discardableResult
    package func append(_ payload: UnsafeRawBufferPointer, framing: Framing) -> UInt64 {
        let (offset, isOverLimit) = outgoing.withLock {
            $0.append(payload, framing: framing, limit: limits.maximum)
        }
        if isOverLimit { overrun() }
        return offset
    }

    @discardableResult
    package func append(shared message: Bytes, framing: Framing) -> UInt64 {
        let (offset, isOverLimit) = outgoing.withLock {
            $0.append(shared: message, framing: framing, limit: limits.maximum)
        }
        if isOverLimit { overrun() }
        return offset
    }

    private func overrun() {
        end(
            .overrun(
                .maximumQueuedOutput,
                "the peer reads too slowly: more than \(limits.maximum) bytes wait for it (maximumQueuedOutput)"))
    }

    package func flush(isLast: Bool) {
        guard eventLoop.isCurrent else { return writeQueued() }
        if isLast && eventLoop.isAtEndOfTurn { writeQueued() } else { flushLater() }
    }

    package func finish() {
        guard outgoing.withLock({ $0.finish(.local) }) else { return }
        flush()
    }

    package func abort() { end(.local) }

    package func handOver(to loop: any Loop) -> (any ByteStream)? {
        guard let loop = loop as? EventLoop, outcome == nil, !hasReadEnd, outgoing.withLock({ $0.leave() }) else {
            return nil
        }
        if let registration { eventLoop.deregister(registration) }
        registration = nil
        receiver = nil
        outcome = (.local, 0)
        return SocketStream(
            socket, on: loop, remoteAddress: remoteAddress, limits: limits, pausesReading: pausesReading)
    }

    /// Ends the stream from anywhere; the descriptor is closed and the receiver told on the loop, never from in here.
    func end(_ end: StreamEnd) {
        guard outgoing.withLock({ $0.end(end) }) else { return }
        eventLoop.submit { [self] in close() }
    }
}
