// A channel of bytes in memory: what one end writes and flushes, the other end receives on its loop. For clients in the process of
// their server, and for tests. It works on any loop.

package import RPCWire

/// What is known of one end of a channel in memory before there is one.
package struct MemoryEnd: Sendable {
    /// Where its receiver is called.
    package var loop: any Loop
    /// The address of the other end, as this end sees it.
    package var remoteAddress = "memory"
    /// Who the other end is.
    package var peer: PeerProof?
    package var limits = OutputLimits()
    /// Whether reading pauses while the other end does not read. As with sockets, only one of the two may do so.
    package var pausesReading = false

    package init(on loop: any Loop) { self.loop = loop }
}

/// One end. The other is reached through the `MemoryWire` that both hold.
package final class MemoryChannel: ByteChannel, TurnEndWork {
    package let loop: any Loop
    package let remoteAddress: String
    package let peer: PeerProof?
    package let wire: MemoryWire
    package let port: MemoryWire.Port
    private let batch: LoopBound<WriteBatch>

    /// Makes both ends.
    package static func pair(_ left: MemoryEnd, _ right: MemoryEnd) -> (MemoryChannel, MemoryChannel) {
        let wire = MemoryWire(left, right)
        return (
            MemoryChannel(wire, MemoryWire.Port(side: .left), left),
            MemoryChannel(wire, MemoryWire.Port(side: .right), right)
        )
    }

    private init(_ wire: MemoryWire, _ port: MemoryWire.Port, _ end: MemoryEnd) {
        (self.wire, self.port) = (wire, port)
        (loop, remoteAddress, peer) = (end.loop, end.remoteAddress, end.peer)
        batch = LoopBound(WriteBatch(), of: end.loop)
    }

    package func open(_ receiver: any ByteReceiver) { wire.open(port.side, receiver) }

    @discardableResult
    package func write(_ fill: (inout SendBuffer, UInt64) -> Void) -> UInt64 { wire.write(port, fill) }

    package var waiting: Int { wire.waiting(port.side) }
    package var isCrowded: Bool { wire.isCrowded(port.side) }
    package var isReading: Bool { wire.isReading(port.side) }

    package func flush(_ hint: FlushHint) {
        if case .now = hint { return wire.send(port.side) }
        guard loop.isCurrent else { return wire.send(port.side) }
        if batch.value.begin() { loop.atEndOfTurn(self, hint) }
        if batch.value.add() { wire.send(port.side) }
    }

    package func turnEnds() {
        batch.value.end()
        wire.send(port.side)
    }

    package func resumeReading() { wire.resumeReading(port.side) }

    package func close() {
        wire.finish(port)
        flush()
    }

    package func abort() { wire.end(port, .local) }

    package func moved(to loop: any Loop) -> (any ByteChannel)? {
        wire.move(port, to: loop).map { MemoryChannel(wire, $0, $1) }
    }
}
