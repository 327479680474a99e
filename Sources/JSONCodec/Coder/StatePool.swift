// Keeps the working memory of encoders and decoders for later uses. It is never freed: a container that the user's code has kept
// for too long still points into it. The container finds another serial number there, and fails cleanly.

import Synchronization

/// Lends pieces of memory, each to one user at a time.
///
/// A class, because access to a global variable of a value type would be checked at each use.
///
/// `@unchecked Sendable`: the pointer never changes, and leads to atomic words only.
final class StatePool<State>: @unchecked Sendable {
    private static var wordsPerCacheLine: Int { 8 }

    /// Addresses of free pieces, about one slot for each thread. Each slot has a cache line of its own.
    private let slots: UnsafeMutablePointer<Atomic<UInt>>
    /// Addresses of free pieces that found their slot taken.
    private let overflow = ShortLock<[UInt]>([])

    init() {
        let words = 8 * Self.wordsPerCacheLine
        slots = .allocate(capacity: words)
        for word in 0..<words { (slots + word).initialize(to: Atomic(0)) }
    }

    /// Takes a piece. Also returns its slot, for giving it back: the thread's stack may reach another slot's range meanwhile.
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

    /// Threads are distinguished by the addresses of their stacks.
    @inline(__always)
    private static func slotOfThisThread() -> Int {
        var local: UInt8 = 0
        let address = withUnsafeMutablePointer(to: &local) { UInt64(UInt(bitPattern: $0)) }
        let hash = ((address &>> 20) &* 0x9E37_79B9_7F4A_7C15) &>> 61
        return Int(truncatingIfNeeded: hash) &* wordsPerCacheLine
    }
}
