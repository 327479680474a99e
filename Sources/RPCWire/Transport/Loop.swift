// The thread that a connection lives on, seen from above: a clock, timers, and an executor for tasks.
//
// Two conformers: `EventLoop` waits on real sockets; the tests' `ManualLoop` runs when told to, on a clock that is
// moved by hand, so that whole conversations replay from a seed.

/// A serial executor too, though no actor's: for tasks that are known to prefer it, which the runtime then need not ask.
package protocol Loop: TaskExecutor, SerialExecutor {
    /// The monotonic clock: fresh, but on the loop itself the same throughout one piece of work.
    var now: Instant { get }

    /// The time as it is, for work that has taken long. On the loop, where it is `now` from here on.
    func lookAtClock() -> Instant

    /// What `now` was some milliseconds ago, for those who would not see them: it costs less.
    var recently: Instant { get }

    /// Resumes callers who have their answers; `resume` does nothing else. Tasks that would go on in the ordinary pool may go
    /// on here instead, soon after this. On the loop.
    /// - Parameter peer: whose only caller this is; nil when others wait as well.
    func answer(onlyOf peer: ObjectIdentifier?, _ resume: () -> Void)

    /// Whether the calling code runs on this loop.
    var isCurrent: Bool { get }

    /// Before code that is not the library's runs here: if that keeps the thread, the loop may go on with another. Until
    /// `takeBack` the calling code is not on the loop, for `isCurrent` and for all that may be touched there alone. A job
    /// begins like this; other work never does.
    /// - Parameter forLong: whether that is to be expected. Then another thread has the loop as soon as it can.
    func lend(forLong: Bool)

    /// For library code that is called by code which the loop may have been lent to: until `goOut` it is on the loop, unless
    /// the loop has gone on elsewhere or is about to. What it has the loop do is done when the thread is back,
    /// or is seen to be kept. Nothing in between may call out.
    func comeIn() -> Presence

    func goOut(_ presence: Presence)

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
    package func answer(onlyOf peer: ObjectIdentifier?, _ resume: () -> Void) { resume() }

    package func lookAtClock() -> Instant { now }
    package func lend(forLong: Bool) {}
    package func comeIn() -> Presence { isCurrent ? .atHome : .elsewhere }
    package func goOut(_ presence: Presence) {}
    package func takeBack() -> Bool { true }
}

package protocol LoopTimer: AnyObject, Sendable {
    /// Forgets the work. Safe from anywhere, any number of times; too late once the work has begun.
    func cancel()
}
