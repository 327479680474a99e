// Keeps the working memory of encoders and decoders from one use to the next. It is never freed: a container that a
// type has kept beyond its coding still points into it, finds another serial number there, and fails cleanly.

import Synchronization

/// Hands out pieces of memory, one at a time to each user.
struct StatePool: ~Copyable, Sendable {
    private static let slotCount = 8
    private static let wordsPerCacheLine = 8

    /// One address for about every thread, each on its own cache line.
    private let slots = InlineArray<64, Atomic<UInt>> { _ in Atomic(0) }
    private let overflow = Mutex<[UInt]>([])

    init() {}

    @inline(__always)
    func take<State>(_ make: () -> UnsafeMutablePointer<State>) -> UnsafeMutablePointer<State> {
        let kept = slots[Self.slotOfThisThread()].exchange(0, ordering: .acquiring)
        if let state = UnsafeMutablePointer<State>(bitPattern: kept) { return state }
        let other = overflow.withLock { $0.popLast() }
        return other.flatMap { UnsafeMutablePointer<State>(bitPattern: $0) } ?? make()
    }

    @inline(__always)
    func giveBack<State>(_ state: UnsafeMutablePointer<State>) {
        let address = UInt(bitPattern: state)
        let slot = Self.slotOfThisThread()
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
