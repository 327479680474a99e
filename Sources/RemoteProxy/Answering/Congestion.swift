// Whether calls have been waiting for their turn so long that one more is better refused than made to wait as well.
// Pure: how many wait, and since when, in; whether one more may wait out.
//
// A burst makes a line that is soon gone, and is served whole. Where there has been a line for a tenth of a second more
// comes than can be done: then a new call is let into it only as long as nobody in it has waited too long. So those that
// are let in are answered in time, and the others are told at once instead of in the end.

package import RPCWire

package struct Congestion: Sendable {
    /// How long there has to be a line before anybody is refused.
    package static let patience: Duration = .milliseconds(100)
    /// So many may wait however long it takes, or a subject that takes long by itself would be left without work.
    package static let alwaysAdmitted = 3

    /// In nanoseconds, which are quicker to reckon with; zero is no limit.
    private let maximumWait: Int64
    private static let patienceTime = patience.nanoseconds
    /// Since when there has been a line, as far as those who came have seen.
    private var lineSince: Instant?
    /// Until then it counts as the same line though it is short: somebody was refused, and so it is.
    private var lineUntil = Instant(nanoseconds: .min)

    package init(maximumWait: Duration) { self.maximumWait = maximumWait.nanoseconds }

    /// Somebody comes.
    /// - Parameters:
    ///   - waiting: how many wait already.
    ///   - first: since when the first of them has.
    /// - Returns: whether it is to be refused.
    package mutating func refuses(waiting: Int, first: Instant, at now: Instant) -> Bool {
        guard waiting >= Self.alwaysAdmitted, maximumWait > 0 else {
            if now >= lineUntil { lineSince = nil }
            return false
        }
        let since = lineSince ?? now
        lineSince = since
        guard now >= since.advanced(byNanoseconds: Self.patienceTime),
            now > first.advanced(byNanoseconds: maximumWait)
        else { return false }
        lineUntil = now.advanced(byNanoseconds: Self.patienceTime)
        return true
    }
}
