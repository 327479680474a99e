// Limits how often all calls together may be tried again: to a fifth of the calls, and ten a second. So a server that fails
// every other call gets a fifth more calls and those ten, not twice as many.

import RPCSockets
import RPCWire
import Synchronization

/// The retries that are left. Pure: the number of calls and the time go in.
struct RetryAccount {
    /// Retries per call.
    static let share = 0.2
    /// Retries per second, for clients that call rarely.
    static let perSecond = 10.0
    /// How many may be saved up. Hours without failures must not allow a storm of retries.
    static let maximumSavings = 100.0

    private var savings = RetryAccount.perSecond
    private var calls = 0
    private var time: Instant?

    /// Takes one retry. False when none is left.
    /// - Parameter calls: the number of calls so far, without retries.
    mutating func withdraw(afterCalls calls: Int, at now: Instant) -> Bool {
        let elapsed = time.map { $0.duration(to: now).nanoseconds } ?? 0
        savings += Double(calls - self.calls) * Self.share + Double(max(elapsed, 0)) * Self.perSecond / 1e9
        savings = min(savings, Self.maximumSavings)
        self.calls = calls
        time = now
        guard savings >= 1 else { return false }
        savings -= 1
        return true
    }
}

/// One account for all proxies of a client. A call only counts itself; the lock is taken only when a call has failed.
final class RetryBudget: Sendable {
    private let calls = Atomic(0)
    private let account = Lock(RetryAccount())

    init() {}

    func countCall() { calls.add(1, ordering: .relaxed) }

    func withdraw(at now: Instant) -> Bool {
        account.withLock { $0.withdraw(afterCalls: calls.load(ordering: .relaxed), at: now) }
    }
}
