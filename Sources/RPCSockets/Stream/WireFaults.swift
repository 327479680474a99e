// What can go wrong on the way from one end of an in-memory wire to the other.

package struct WireFaults: Sendable {
    /// Bytes arrive in pieces of at most so many, each in a turn of its own.
    package var pieceSize = Int.max
    /// What is sent stays on the way until this is false again.
    package var isHeld = false
    /// How many bytes can be on the way; the rest waits in the sender's queue and does not count as sent.
    package var capacity = Int.max
    /// What happens when so many bytes have arrived.
    package var breaksAt: (offset: UInt64, how: Breakage)?

    package init() {}

    package enum Breakage: Sendable, CaseIterable {
        /// Both ends are told that the connection has failed.
        case reset
        /// Both ends are told that the other has closed.
        case close
        /// Nobody is told anything, and nothing arrives any more in either direction.
        case silence
    }
}
