// Finds out that the other end is gone without having said so. Pure: what was heard and when in, what to do out.
//
// Only silence is asked about: whoever sends anything lives. So a busy connection costs a note of the time and nothing
// else, and an idle one a question per interval: one of the two ends asks later than the other, and then need not.

package import RPCWire

package struct Keepalive: Sendable {
    package enum Action: Sendable, Hashable {
        case wait
        /// Ask whether anybody is there.
        case ask
        /// Nobody has answered.
        case giveUp
    }

    /// In nanoseconds, half as large as durations: there may be ten thousand of these.
    private let interval: Int64
    private let timeout: Int64
    package private(set) var heard: Instant
    /// When the question left that has no answer yet.
    private var asked: Instant?
    private var isOn = false

    /// - Parameters:
    ///   - interval: how long silence goes unquestioned; zero for ever.
    ///   - timeout: how long the answer may take.
    ///   - isSecond: whether the other end is to ask first. If it does not, its silence lasts no longer for that: the
    ///     answer has less time instead.
    package init(interval: Duration, timeout: Duration, isSecond: Bool = false, at now: Instant) {
        let delay = isSecond && interval > .zero ? min(interval, timeout).nanoseconds / 4 : 0
        // Whoever says for ever means it.
        self.interval = min(interval.nanoseconds, .max / 2) + delay
        self.timeout = timeout.nanoseconds - delay
        heard = now
    }

    /// The other end turned out to be one that answers.
    package mutating func begin(at now: Instant) {
        isOn = interval > 0
        heard(at: now)
    }

    /// Bytes came, whatever they say; or they could not come, because this end was not reading.
    /// - Returns: whether they were waited for: then the next check may be due sooner than was said before.
    @discardableResult
    package mutating func heard(at now: Instant) -> Bool {
        heard = now
        guard asked != nil else { return false }
        asked = nil
        return true
    }

    /// When to check next.
    package var due: Instant {
        guard isOn else { return .distantFuture }
        return asked.map { $0.advanced(by: .nanoseconds(timeout)) } ?? heard.advanced(by: .nanoseconds(interval))
    }

    package mutating func check(at now: Instant) -> Action {
        let due = due
        guard now >= due else { return .wait }
        // A check that comes far too late tells of this end, which stood still: the answer may wait to be read.
        if asked == nil || now >= due.advanced(by: .nanoseconds(timeout)) {
            asked = now
            return .ask
        }
        return .giveUp
    }
}
