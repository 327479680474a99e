// How long to wait before the next attempt: exponential, with full jitter, so that a thousand clients that lost the
// same server do not come back in the same instant.

package struct Backoff: Sendable, Hashable {
    /// The longest first wait.
    package var base: Duration
    /// The longest wait of all.
    package var limit: Duration

    package init(base: Duration = .milliseconds(100), limit: Duration = .seconds(10)) {
        self.base = base
        self.limit = limit
    }

    /// - Parameters:
    ///   - failures: how many attempts have failed in a row before this wait.
    ///   - chance: a random number in 0 ..< 1; the wait is this part of the longest one.
    package func delay(afterFailures failures: Int, chance: Double) -> Duration {
        // 2^30 times any sensible base is above any sensible limit; beyond it the product could overflow.
        let factor = 1 << min(max(failures, 0), 30)
        let longest = base.nanoseconds.multipliedReportingOverflow(by: Int64(factor))
        let bound = longest.overflow ? limit.nanoseconds : min(longest.partialValue, limit.nanoseconds)
        return .nanoseconds(Int64(Double(max(bound, 0)) * min(max(chance, 0), 1)))
    }
}
