// Keeps the working memory of encoders and decoders from one use to the next. It is never freed: a container that a
// type has kept beyond its coding still points into it, finds another serial number there, and fails cleanly.

import Synchronization

/// Hands out pieces of memory, one at a time to each user.
///
/// A class, since a global variable that is a value would be guarded against changes at each use.
final class StatePool<State>: Sendable {
    private static var wordsPerCacheLine: Int { 8 }

    /// One address for about every thread, each on its own cache line.
    private let slots = InlineArray<64, Atomic<UInt>> { _ in Atomic(0) }
    /// The addresses of what the slots have no room for.
    private let overflow = Mutex<[UInt]>([])

    /// A piece, and the slot to give it back to: a thread whose stack crosses a boundary would otherwise find another one.
    @inline(__always)
    func take(_ make: () -> UnsafeMutablePointer<State>) -> (state: UnsafeMutablePointer<State>, slot: Int) {
        let slot = Self.slotOfThisThread()
        let kept = slots[slot].exchange(0, ordering: .acquiring)
        if let state = UnsafeMutablePointer<State>(bitPattern: kept) { return (state, slot) }
        let spare = overflow.withLock { $0.popLast() ?? 0 }
        return (UnsafeMutablePointer<State>(bitPattern: spare) ?? make(), slot)
    }

    @inline(__always)
    func giveBack(_ state: UnsafeMutablePointer<State>, to slot: Int) {
        let address = UInt(bitPattern: state)
        if !slots[slot].compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged {
            overflow.withLock { $0.append(address) }
        }
    }

    /// Threads are told apart by where their stacks lie.
    @inline(__always)
    private static func slotOfThisThread() -> Int {
        var local: UInt8 = 0
        let address = withUnsafeMutablePointer(to: &local) { UInt64(UInt(bitPattern: $0)) }
        let hash = ((address &>> 20) &* 0x9E37_79B9_7F4A_7C15) &>> 61
        return Int(truncatingIfNeeded: hash) &* wordsPerCacheLine
    }
}
