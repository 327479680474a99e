// The thread that a connection lives on, seen from above: a clock, timers, and an executor for tasks.
//
// Two conformers: `EventLoop` waits on real sockets; the tests' `ManualLoop` runs when told to, on a clock that is
// moved by hand, so that whole conversations replay from a seed.

package protocol Loop: TaskExecutor {
    /// The monotonic clock: fresh, but on the loop itself the same throughout one piece of work.
    var now: Instant { get }

    /// The time as it is, for work that has taken long. On the loop, where it is `now` from here on.
    func lookAtClock() -> Instant

    /// For a caller that is alone, has sent its call from elsewhere and would now sleep until it is resumed: it may do what
    /// the loop would do, for a moment, instead of having the loop woken first and then itself. Returns when `isOver`
    /// does, or when it would take too long.
    func visit(until isOver: () -> Bool)

    /// For a caller that has sent a call from elsewhere and does not visit: the loop's thread is to be there.
    func attend()

    /// Somebody has begun to wait for answers over the streams of this loop (1), or has ended (-1). From anywhere.
    func expect(_ change: Int)

    /// Whether the calling code runs on this loop.
    var isCurrent: Bool { get }

    /// Before code that is not the library's runs here: if that keeps the thread, the loop may go on with another. Until
    /// `takeBack` the calling code is not on the loop, for `isCurrent` and for all that may be touched there alone. A job
    /// begins like this; other work never does.
    /// - Parameter forLong: whether that is to be expected. Then another thread has the loop as soon as it can.
    func lend(forLong: Bool)

    /// Whether more is to be done here than can be. As long as that lasts, the loop goes on with another thread only for code
    /// that sleeps: one more that computes would be in the way of the others. On the loop.
    func noteOverload(_ lasts: Bool)

    /// Whether the calling code is on the loop again. If not, the loop has gone on elsewhere: a task gets there by
    /// `Task.yield`.
    func takeBack() -> Bool

    /// Runs `work` on the loop. Work and task jobs share one queue and run in the order they came; what arrives
    /// from the loop itself wakes nobody. Never runs `work` before returning.
    func submit(_ work: @escaping @Sendable () -> Void)

    /// Runs `work` on the loop at `instant` or as soon as possible after it, unless cancelled before.
    /// May be called from anywhere; from elsewhere it wakes the loop only if this timer is now the next one due.
    @discardableResult
    func schedule(at instant: Instant, _ work: @escaping @Sendable () -> Void) -> any LoopTimer
}

extension Loop {
    package func visit(until isOver: () -> Bool) {}

    package func attend() {}

    package func expect(_ change: Int) {}

    package func lookAtClock() -> Instant { now }
    package func lend(forLong: Bool) {}
    package func noteOverload(_ lasts: Bool) {}
    package func takeBack() -> Bool { true }
}

package protocol LoopTimer: AnyObject, Sendable {
    /// Forgets the work. Safe from anywhere, any number of times; too late once the work has begun.
    func cancel()
}
