// What goes wrong with channels in memory when a test wants it: they break when told to, byte by byte, so that a conversation on a
// manual loop replays exactly.

package import RPCSockets
package import RPCWire

extension MemoryChannel {
    /// - Parameter otherLoop: where the second end lives, if not on the same loop as the first.
    package static func pair(
        on loop: any Loop, and otherLoop: (any Loop)? = nil
    ) -> (MemoryChannel, MemoryChannel) {
        var (left, right) = (MemoryEnd(on: loop), MemoryEnd(on: otherLoop ?? loop))
        (left.remoteAddress, right.remoteAddress) = ("memory:right", "memory:left")
        return pair(left, right)
    }

    /// What goes wrong with what this end sends.
    package var faults: WireFaults {
        get { wire.fault(of: port.side) as? WireFaults ?? WireFaults() }
        set { wire.setFault(of: port.side, newValue) }
    }

    /// Breaks the connection now. What is on the way in either direction is lost.
    package func cut(_ how: WireFaults.Breakage = .reset) { wire.cut(how.end) }

    /// How many bytes of what this end has sent have arrived.
    package var delivered: UInt64 { wire.delivered(from: port.side) }
}

/// What goes wrong with what one end of an in-memory wire sends.
package struct WireFaults: WireFault {
    /// Bytes arrive in pieces of at most so many, each in a turn of its own.
    package var pieceSize = Int.max
    /// What is sent stays on the way until this is false again.
    package var isHeld = false
    /// How many bytes can be on the way; the rest waits in the sender's queue and does not count as sent.
    package var capacity = Int.max
    /// What happens when so many bytes have arrived.
    package var breaksAt: (offset: UInt64, how: Breakage)?

    package init() {}

    package func passage(of count: Int, after delivered: UInt64) -> WirePassage {
        if isHeld { return .held }
        let piece = min(count, max(1, pieceSize))
        guard let (offset, how) = breaksAt else { return .bytes(piece) }
        return delivered >= offset ? .broken(how.end) : .bytes(min(piece, Int(clamping: offset - delivered)))
    }

    package enum Breakage: Sendable, CaseIterable {
        /// Both ends are told that the connection has failed.
        case reset
        /// Both ends are told that the other has closed.
        case close
        /// Neither end is told, and nothing arrives any more in either direction.
        case silence

        fileprivate var end: ChannelEnd? {
            switch self {
            case .reset: .failed("the wire was cut")
            case .close: .remote
            case .silence: nil
            }
        }
    }
}
