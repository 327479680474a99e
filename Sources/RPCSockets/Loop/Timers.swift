// The timers of one loop, in a binary heap. A cancelled timer stays in the heap until it is due, or until the heap has doubled
// in size.

import RPCWire

/// Work that runs at its deadline. The work is taken once, to be run or to be dropped. So it cannot be both fired and
/// cancelled.
final class ScheduledTimer: LoopTimer {
    /// Holds the function in a struct of its own. A function as a generic value is wrapped once more each time it is read. A
    /// timer that waits for long would collect so many wrappers that unwrapping them overflows the stack.
    private struct Work {
        let run: @Sendable () -> Void
    }

    let deadline: Instant
    private let work: Lock<Work?>

    init(_ deadline: Instant, _ work: @escaping @Sendable () -> Void) {
        self.deadline = deadline
        self.work = Lock(Work(run: work))
    }

    func cancel() {
        // Releases the objects of the work at once, and outside the lock.
        _ = takeWork()
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

/// The timers in the order of their deadlines. Timers with the same deadline keep the order in which they were set.
struct TimerHeap {
    private struct Entry {
        /// A copy, so that comparing entries does not touch the timers, which are elsewhere in memory.
        let deadline: Instant
        let sequence: UInt64
        let timer: ScheduledTimer

        static func < (left: Entry, right: Entry) -> Bool {
            left.deadline != right.deadline ? left.deadline < right.deadline : left.sequence < right.sequence
        }
    }

    /// The size at which cancelled timers are first removed.
    private static let firstTidying = 128

    private var entries: ContiguousArray<Entry> = []
    private var tidiesAt = TimerHeap.firstTidying
    /// The sequence number of the next timer that is inserted. See `popDue`.
    private(set) var mark: UInt64 = 0

    var count: Int { entries.count }
    /// When the first timer is due. It may be cancelled.
    var nextDeadline: Instant? { entries.first?.deadline }

    mutating func insert(_ timer: ScheduledTimer) {
        if entries.count >= tidiesAt { removeCancelled() }
        entries.append(Entry(deadline: timer.deadline, sequence: mark, timer: timer))
        mark += 1
        siftUp(entries.count - 1)
    }

    /// Takes the first timer that is due. Nil if that timer was inserted after `mark` was read: a timer that sets itself again
    /// for "now" must not keep the loop from its other work.
    mutating func popDue(at now: Instant, before mark: UInt64) -> ScheduledTimer? {
        guard let first = entries.first, first.deadline <= now, first.sequence < mark else { return nil }
        removeFirst()
        return first.timer
    }

    /// Removes cancelled timers from the front, so that the loop is not woken for them.
    mutating func dropCancelledFirst() {
        while let first = entries.first, first.timer.isCancelled { removeFirst() }
    }

    mutating func removeAll() { entries.removeAll() }

    private mutating func removeFirst() {
        entries.swapAt(0, entries.count - 1)
        entries.removeLast()
        siftDown(0)
    }

    private mutating func removeCancelled() {
        entries.removeAll { $0.timer.isCancelled }
        for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) { siftDown(index) }
        tidiesAt = max(Self.firstTidying, entries.count * 2)
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0, entries[index] < entries[(index - 1) / 2] {
            entries.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while 2 * index + 1 < entries.count {
            var child = 2 * index + 1
            if child + 1 < entries.count, entries[child + 1] < entries[child] { child += 1 }
            guard entries[child] < entries[index] else { return }
            entries.swapAt(index, child)
            index = child
        }
    }
}
