// The thread on which a connection lives, as the layers above see it: a clock, timers, and an executor for tasks.
//
// Two conformers. `EventLoop` waits on real sockets. The tests' `ManualLoop` runs when the test says so, on a clock that the
// test moves, so that whole conversations can be repeated from a seed.

/// Tells whether the calling code runs on a loop's thread.
package protocol LoopThread: AnyObject, Sendable {
    /// Whether the calling code runs on this loop.
    var isCurrent: Bool { get }
}

/// A clock, timers and work, all on one thread. It executes the tasks that prefer it. It is also a serial executor, though not
/// of an actor: for its tasks the runtime then need not look up which executor they prefer.
package protocol Loop: LoopThread, TaskExecutor, SerialExecutor {
    /// The monotonic clock. Always fresh, except on the loop itself: there it stays the same during one piece of work.
    var now: Instant { get }

    /// Runs `work` on the loop, and never before returning. Work and task jobs share one queue and run in the order in which
    /// they came. A call on the loop itself wakes no thread.
    func submit(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` on the loop, at `instant` or as soon as possible after it, unless it is cancelled before. Any thread may
    /// call it. A call from elsewhere wakes the loop only if this timer is the next one due.
    @discardableResult
    func schedule(at instant: Instant, _ work: @escaping @Sendable () -> Void) -> any LoopTimer

    /// Calls `work.turnEnds()` once, when the loop has done what is left of the present turn. Called on the loop.
    /// - Parameter hint: with `.last` the call comes at once if nothing else is left of the turn.
    func atEndOfTurn(_ work: any TurnEndWork, _ hint: FlushHint)
}

/// An object that has work to do at the end of a turn of its loop.
package protocol TurnEndWork: AnyObject, Sendable {
    /// Called on the loop, once for each time that it was asked for.
    func turnEnds()
}

package protocol LoopTimer: AnyObject, Sendable {
    /// Drops the work, unless it has already begun. May be called on any thread, any number of times.
    func cancel()
}
