// Keeps the working memory of encoders and decoders from one use to the next. It is never freed: a container that a
// type has kept beyond its coding still points into it, finds another serial number there, and fails cleanly.

import Synchronization

/// Hands out pieces of memory, one at a time to each user.
struct StatePool: ~Copyable, Sendable {
    private static let slotCount = 8
    private static let wordsPerCacheLine = 8

    /// One address for about every thread, each on its own cache line.
    private let slots = InlineArray<64, Atomic<UInt>> { _ in Atomic(0) }
    private let overflow = Overflow()

    init() {}

    @inline(__always)
    func take<State>(_ make: () -> UnsafeMutablePointer<State>) -> UnsafeMutablePointer<State> {
        let kept = slots[Self.slotOfThisThread()].exchange(0, ordering: .acquiring)
        if let state = UnsafeMutablePointer<State>(bitPattern: kept) { return state }
        return UnsafeMutablePointer<State>(bitPattern: overflow.take()) ?? make()
    }

    @inline(__always)
    func giveBack<State>(_ state: UnsafeMutablePointer<State>) {
        let address = UInt(bitPattern: state)
        let slot = Self.slotOfThisThread()
        if !slots[slot].compareExchange(expected: 0, desired: address, ordering: .releasing).exchanged {
            overflow.add(address)
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

/// What the slots have no room for. Held for an append or a removal at most, so whoever waits spins: a real lock is the
/// system's, and this target knows no system.
///
/// `@unchecked Sendable`: `addresses` is touched only by whoever has set `isTaken`.
private final class Overflow: @unchecked Sendable {
    private let isTaken = Atomic(false)
    private var addresses: [UInt] = []

    /// 0 if there is nothing.
    func take() -> UInt { alone { addresses.popLast() ?? 0 } }

    func add(_ address: UInt) { alone { addresses.append(address) } }

    private func alone<Result>(_ body: () -> Result) -> Result {
        while isTaken.exchange(true, ordering: .acquiring) {}
        defer { isTaken.store(false, ordering: .releasing) }
        return body()
    }
}
