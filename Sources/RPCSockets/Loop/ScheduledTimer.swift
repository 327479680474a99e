// One timer of a loop: the work that waits for its time, and how it is taken, by whoever comes first.

package import RPCWire
import Synchronization

/// One piece of work that waits for its time. Whoever takes the work, runs or drops it: firing and cancelling
/// cannot both have it.
final class ScheduledTimer: LoopTimer {
    /// Not the function by itself: in a generic place it would be wrapped once more whenever somebody looks at it, and
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
