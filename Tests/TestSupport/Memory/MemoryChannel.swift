// Two ends of a wire without a system in between: what one end writes and flushes, the other receives on its loop. It works
// over any loop and breaks when told to, byte by byte, so that a conversation on a manual loop replays exactly.

import RPCSockets
package import RPCWire

/// One end. The other is reached through the `Wire` that both hold.
package final class MemoryChannel: ByteChannel, TurnEndWork {
    package let loop: any Loop
    package let remoteAddress: String
    private let wire: Wire
    private let side: Wire.Side
    private let batch = Lock(WriteBatch())

    /// - Parameter otherLoop: where the second end lives, if not on the same loop as the first.
    package static func pair(
        on loop: any Loop, and otherLoop: (any Loop)? = nil
    ) -> (MemoryChannel, MemoryChannel) {
        let wire = Wire(loop, otherLoop ?? loop)
        return (MemoryChannel(wire, .left, "memory:right"), MemoryChannel(wire, .right, "memory:left"))
    }

    private init(_ wire: Wire, _ side: Wire.Side, _ remoteAddress: String) {
        self.wire = wire
        self.side = side
        self.remoteAddress = remoteAddress
        loop = wire.loop(of: side)
    }

    package func open(_ receiver: any ByteReceiver) { wire.open(side, receiver) }

    @discardableResult
    package func write(_ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 { wire.write(side, fill) }

    package var waiting: Int { wire.waiting(side) }
    package var isCrowded: Bool { wire.isCrowded(side) }

    package func flush(_ hint: FlushHint) {
        if case .now = hint { return wire.send(side) }
        guard loop.isCurrent else { return wire.send(side) }
        if batch.withLock({ $0.begin() }) { loop.atEndOfTurn(self, hint) }
        if batch.withLock({ $0.add() }) { wire.send(side) }
    }

    package func turnEnds() {
        batch.withLock { $0.end() }
        wire.send(side)
    }

    /// Delivery in memory never pauses: the receiver's queue is as good as the wire's.
    package func resumeReading() {}

    package func close() {
        wire.finish(side)
        flush()
    }

    package func abort() { wire.end(side, .local) }

    package func moved(to loop: any Loop) -> (any ByteChannel)? {
        wire.move(side, to: loop) ? MemoryChannel(wire, side, remoteAddress) : nil
    }

    /// What goes wrong with what this end sends.
    package var faults: WireFaults {
        get { wire.faults(of: side) }
        set { wire.setFaults(of: side, newValue) }
    }

    /// Breaks the connection now. What is on the way in either direction is lost.
    package func cut(_ how: WireFaults.Breakage = .reset) { wire.cut(how) }

    /// How many bytes of what this end has sent have arrived.
    package var delivered: UInt64 { wire.delivered(from: side) }
}
