// How callers may run a loop themselves while they wait for an answer: where the loop's own thread waits meanwhile, and
// whether visits have paid. `EventLoop+Visiting.swift` is what the two sides do.
//
// An answer that comes to a loop wakes the loop's thread, which wakes the caller's: twice what being woken costs. A caller
// that is alone may save one of the two if it is there itself when the answer comes.

import Synchronization

/// `@unchecked Sendable`: at the doorstep only the loop's thread waits, and waking it is for everybody; the rest are atomics.
package final class Visits: @unchecked Sendable {
    /// How long the loop may stand vacant, in nanoseconds, before its thread comes back to see what else has happened;
    /// after a visit that long once more. A caller is asked to leave then: its thread may belong to others too. It needs no
    /// timer of its own, which would cost each call a tenth of the time that it takes.
    static let absence: Int64 = 500_000
    /// A visit that took longer, in nanoseconds, has not paid, though the answer came: others would have had the thread.
    static let worthIt: Int64 = 200_000
    /// How many callers do without a visit, at most, before another one tries.
    static let mostSkipped = 1_024

    /// Where the thread waits; nothing is watched there.
    private let doorstep: any Selector
    /// Somebody would have come if the loop had been vacant.
    private let hasCaller = Atomic(false)
    /// Somebody needs the loop's thread.
    private let isCalledBack = Atomic(false)
    private let number = Atomic(0)
    // How it has gone lately: visits that were in vain, one after the other, and how many callers are not to try next.
    private let misses = Atomic(0)
    private let skips = Atomic(0)

    package init(_ backend: EventLoop.Backend = .best) throws(SystemError) { doorstep = try backend.makeSelector() }

    /// How many there have been.
    package var count: Int { number.load(ordering: .relaxed) }

    /// Whether the thread is to step aside when it has nothing else to do.
    var isDue: Bool { hasCaller.load(ordering: .relaxed) }

    // MARK: the caller

    /// Whether to try. A call that takes long is not worth waiting for, and most likely the next will not be either.
    func isWorthwhile() -> Bool {
        let left = skips.load(ordering: .relaxed)
        if left > 0 { skips.store(left - 1, ordering: .relaxed) }
        return left == 0
    }

    func missed() { hasCaller.store(true, ordering: .relaxed) }

    func came() { number.add(1, ordering: .relaxed) }

    func left(hasPaid: Bool) {
        guard !hasPaid else { return misses.store(0, ordering: .relaxed) }
        let count = min(misses.load(ordering: .relaxed) + 1, 7)
        misses.store(count, ordering: .relaxed)
        // Once is an accident: the call was quick, and somebody else had the processor.
        guard count > 1 else { return }
        skips.store(min(8 << count, Self.mostSkipped), ordering: .relaxed)
    }

    /// There is something to do that only the loop's thread does. From anywhere.
    func callBack() {
        if !isCalledBack.exchange(true, ordering: .sequentiallyConsistent) { doorstep.wake() }
    }

    /// The same by one who leaves: the thread may have been on its way and found somebody in its place.
    func letIn() {
        isCalledBack.store(true, ordering: .sequentiallyConsistent)
        doorstep.wake()
    }

    /// Whether the thread waits for its place. May still say so when it has it: then the next visit does not begin.
    var isThreadBack: Bool { isCalledBack.load(ordering: .sequentiallyConsistent) }

    // MARK: the loop's thread

    /// For as long as callers come and go.
    func standAside() {
        hasCaller.store(false, ordering: .relaxed)
        var seen: Int
        repeat {
            seen = number.load(ordering: .relaxed)
            _ = doorstep.wait(nanoseconds: Self.absence)
        } while !isThreadBack && number.load(ordering: .relaxed) != seen
        isCalledBack.store(true, ordering: .sequentiallyConsistent)
    }

    /// Somebody is still there, and will say when he leaves.
    func waitForPlace() { _ = doorstep.wait(nanoseconds: Self.absence) }

    func isBack() { isCalledBack.store(false, ordering: .relaxed) }
}
