// The thread that a connection lives on, seen from above: a clock, timers, and an executor for tasks.
//
// Two conformers: `EventLoop` waits on real sockets; the tests' `ManualLoop` runs when told to, on a clock that is
// moved by hand, so that whole conversations replay from a seed.

/// What can say whether the calling code runs on a loop's thread.
package protocol LoopThread: AnyObject, Sendable {
    /// Whether the calling code runs on this loop.
    var isCurrent: Bool { get }
}

/// A clock, timers and work, all on one thread. It executes tasks that prefer it, and is a serial executor too, though not an
/// actor's: the runtime need not ask such a task what it prefers.
package protocol Loop: LoopThread, TaskExecutor, SerialExecutor {
    /// The monotonic clock. It is fresh, but on the loop itself it is the same throughout one piece of work.
    var now: Instant { get }

    /// Runs `work` on the loop. Work and task jobs share one queue and run in the order they came. What is submitted on the loop
    /// itself wakes no thread. Never runs `work` before returning.
    func submit(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` on the loop at `instant` or as soon as possible after it, unless it is cancelled before.
    /// May be called from anywhere. From elsewhere it wakes the loop only if this timer is now the next one due.
    @discardableResult
    func schedule(at instant: Instant, _ work: @escaping @Sendable () -> Void) -> any LoopTimer
}

package protocol LoopTimer: AnyObject, Sendable {
    /// Forgets the work. Safe from anywhere, any number of times; too late once the work has begun.
    func cancel()
}
