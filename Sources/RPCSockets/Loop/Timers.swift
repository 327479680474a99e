// The timers of one loop: each is work that waits for its time. They stand in a binary heap, in which cancelled timers stay
// until they come up or outnumber the living ones.

import RPCWire
import Synchronization

/// One piece of work that waits for its time. The work is taken once, to be run or to be dropped, so that firing and cancelling
/// cannot both have it.
final class ScheduledTimer: LoopTimer {
    /// Not the function by itself: in a generic place it would be wrapped once more at each look, and
    /// the wrappings of a timer that waits for long would be too many for the stack to undo.
    private struct Work {
        let run: @Sendable () -> Void
    }

    let deadline: Instant
    private let work: Lock<Work?>
    private let cancelled: CancelledCount

    init(_ deadline: Instant, _ cancelled: CancelledCount, _ work: @escaping @Sendable () -> Void) {
        self.deadline = deadline
        self.cancelled = cancelled
        self.work = Lock(Work(run: work))
    }

    func cancel() {
        // What the work holds on to is let go here and now, outside the lock.
        if takeWork() != nil { cancelled.number.add(1, ordering: .relaxed) }
    }

    func takeWork() -> (@Sendable () -> Void)? {
        let taken = work.withLock { work -> Work? in
            let taken = work
            work = nil
            return taken
        }
        return taken?.run
    }

    var isCancelled: Bool { work.withLock { $0 == nil } }
}

/// How many timers of a heap have been cancelled, from any thread, since it was last tidied up.
final class CancelledCount: Sendable {
    let number = Atomic<Int>(0)
}

/// The timers by their time, and those of the same time in the order in which they were set.
struct TimerHeap {
    private struct Entry {
        let place: Place
        let timer: ScheduledTimer
    }

    /// By itself, so that comparing entries does not touch their timers, each of which is somewhere else in memory.
    private struct Place {
        let deadline: Instant
        /// Timers of the same moment fire in the order they were set.
        let sequence: UInt64

        static func < (left: Place, right: Place) -> Bool {
            left.deadline != right.deadline ? left.deadline < right.deadline : left.sequence < right.sequence
        }
    }

    let cancelled = CancelledCount()
    private var entries: ContiguousArray<Entry> = []
    private var nextSequence: UInt64 = 0

    var count: Int { entries.count }
    var nextDeadline: Instant? { entries.first?.place.deadline }

    mutating func insert(_ timer: ScheduledTimer) {
        guard !timer.isCancelled else {
            cancelled.number.subtract(1, ordering: .relaxed)
            return
        }
        let waste = cancelled.number.load(ordering: .relaxed)
        if waste > 64, waste > entries.count / 2 { removeCancelled() }
        entries.append(Entry(place: Place(deadline: timer.deadline, sequence: nextSequence), timer: timer))
        nextSequence += 1
        siftUp(entries.count - 1)
    }

    /// The number that the next timer to be inserted will have. See `popDue`.
    var mark: UInt64 { nextSequence }

    /// Takes the first timer that is due, unless it was inserted after `mark`: a timer that sets itself again
    /// for "now" must not keep the loop from everything else.
    mutating func popDue(at now: Instant, before mark: UInt64) -> ScheduledTimer? {
        guard let first = entries.first, first.place.deadline <= now, first.place.sequence < mark else { return nil }
        removeFirst()
        return first.timer
    }

    /// The loop is not woken for a timer that is cancelled.
    mutating func dropCancelledFirst() {
        guard cancelled.number.load(ordering: .relaxed) > 0 else { return }
        while let first = entries.first, first.timer.isCancelled {
            removeFirst()
            cancelled.number.subtract(1, ordering: .relaxed)
        }
    }

    mutating func removeAll() {
        entries.removeAll()
        cancelled.number.store(0, ordering: .relaxed)
    }

    private mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        if !entries.isEmpty { siftDown(0) }
    }

    private mutating func removeCancelled() {
        let count = entries.count
        entries.removeAll { $0.timer.isCancelled }
        // Others may have been cancelled before they came here, and are still to come.
        cancelled.number.subtract(count - entries.count, ordering: .relaxed)
        for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
    }

    // Both move entries through memory as they are: a copy of each would be counted, and that in its timer.

    private mutating func siftUp(_ start: Int) {
        entries.withUnsafeMutableBufferPointer { entries in
            guard let heap = entries.baseAddress, start > 0 else { return }
            let moving = (heap + start).move()
            var index = start
            while index > 0, moving.place < heap[(index - 1) / 2].place {
                (heap + index).moveInitialize(from: heap + (index - 1) / 2, count: 1)
                index = (index - 1) / 2
            }
            (heap + index).initialize(to: moving)
        }
    }

    private mutating func siftDown(_ start: Int) {
        entries.withUnsafeMutableBufferPointer { entries in
            guard let heap = entries.baseAddress, start < entries.count else { return }
            let moving = (heap + start).move()
            var index = start
            while 2 * index + 1 < entries.count {
                var child = 2 * index + 1
                if child + 1 < entries.count, heap[child + 1].place < heap[child].place { child += 1 }
                guard heap[child].place < moving.place else { break }
                (heap + index).moveInitialize(from: heap + child, count: 1)
                index = child
            }
            (heap + index).initialize(to: moving)
        }
    }
}
