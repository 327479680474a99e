// Keeps the working memory of encoders and decoders from one use to the next. It is never freed: a container that a
// type has kept beyond its coding still points into it, finds another serial number there, and fails cleanly.

import Synchronization

/// Hands out pieces of memory, one at a time to each user.
///
/// A class, since what is read from a global variable that is a value is guarded against being changed meanwhile.
final class StatePool: Sendable {
    private static let slotCount = 8
    private static let wordsPerCacheLine = 8

    /// One address for about every thread, each on its own cache line.
    private let slots = InlineArray<64, Atomic<UInt>> { _ in Atomic(0) }
    private let overflow = Overflow()

    init() {}

    /// A piece, and the slot to give it back to: a thread whose stack crosses a boundary would else find another one.
    @inline(__always)
    func take<State>(_ make: () -> UnsafeMutablePointer<State>) -> (state: UnsafeMutablePointer<State>, slot: Int) {
        let slot = Self.slotOfThisThread()
        let kept = slots[slot].exchange(0, ordering: .acquiring)
        if let state = UnsafeMutablePointer<State>(bitPattern: kept) { return (state, slot) }
        return (UnsafeMutablePointer<State>(bitPattern: overflow.take()) ?? make(), slot)
    }

    @inline(__always)
    func giveBack<State>(_ state: UnsafeMutablePointer<State>, to slot: Int) {
        let address = UInt(bitPattern: state)
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
