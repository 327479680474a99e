// How often calls may be tried again, all together: a fifth of the calls and ten a second. A server that fails every
// other call then gets a fifth more of them and those ten, not twice as many.

import RPCSockets
import RPCWire
import Synchronization

/// The sum. Pure: the calls so far and the time come in.
struct RetryAccount {
    /// Retries per call.
    static let share = 0.2
    /// Retries per second, for those that call rarely.
    static let perSecond = 10.0
    /// How many may be saved up: what went well for hours is no reason for a storm.
    static let maximumSavings = 100.0

    private var savings = RetryAccount.perSecond
    private var calls = 0
    private var time: Instant?

    /// Takes one retry out. False when there is none left.
    /// - Parameter calls: how many calls there have been, retries not counted.
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

/// One account for all that share it: the proxies of one client. Calls only count; the lock is for those that failed.
final class RetryBudget: Sendable {
    private let calls = Atomic(0)
    private let account = Lock(RetryAccount())

    init() {}

    func countCall() { calls.add(1, ordering: .relaxed) }

    func withdraw(at now: Instant) -> Bool {
        account.withLock { $0.withdraw(afterCalls: calls.load(ordering: .relaxed), at: now) }
    }
}
