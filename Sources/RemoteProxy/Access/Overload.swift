// Whether more calls come than can be done, and which calls to refuse then. Pure: waiting times in, a decision out.
//
// This is CoDel (Nichols and Jacobson, "Controlling Queue Delay", 2012) as servers use it for requests (Maurer, "Fail at
// Scale", 2015). A burst makes a line that is soon gone, so the length of a line says nothing. A line is an overload when
// every call that left it during an interval had waited too long. From then on calls are refused on arrival while the line
// is longer than a target, so that those let in are answered nearly as soon as they would be alone.

package import RPCWire

/// Decides for one loop. A server with several threads has one for each.
package struct Overload: Sendable {
    /// How long calls wait in the line while the overload lasts.
    package static let target: Duration = .milliseconds(5)
    /// How long all waits have to be too long before the first call is refused. Also how often the end is looked for.
    package static let interval: Duration = .milliseconds(100)
    /// A line this short is always joined, or a server whose calls take longer than the target would run out of work.
    package static let alwaysAdmitted = 3
    /// The line of an overloaded server is now and then empty by chance, and refuses no less for that.
    private static let emptyLinesPerRefusal = 4

    /// The calls that wait, as a new call finds them.
    package struct Line: Sendable {
        /// When the first of them arrived.
        package var oldest: Instant
        package var waiting: Int
        /// How many of them are of the new call's session.
        package var own: Int
        /// How many sessions they are of.
        package var sessions: Int

        package init(oldest: Instant, waiting: Int, own: Int, sessions: Int) {
            (self.oldest, self.waiting, self.own, self.sessions) = (oldest, waiting, own, sessions)
        }

        /// Whether the new call's session asks for little beside others: it has nothing in the line while another has more
        /// than one call there, or with one more it has at most half of what each session has on average.
        fileprivate var isModest: Bool { own == 0 ? sessions < waiting : 2 * (own + 1) * sessions <= waiting }
    }

    private let maximumWait: Duration?
    private let target: Duration
    /// Since when all waits have been too long.
    private var tooLongSince: Instant?
    /// While the overload lasts: when the counts below are judged.
    private var intervalEnd: Instant?
    private var refused = 0
    private var emptyLines = 0

    /// - Parameter maximumWait: a call that waits longer waits too long. Zero: no wait is too long, and nothing is refused.
    package init(maximumWait: Duration) {
        self.maximumWait = maximumWait > .zero ? maximumWait : nil
        target = min(maximumWait, Self.target)
    }

    /// Whether more comes than can be done.
    package var isOn: Bool { intervalEnd != nil }

    /// A call is about to leave the line.
    /// - Parameter isShared: whether calls of several sessions wait. One session that waits for its own calls is not refused
    ///   any: it asked for them, and the connection's limits bound how many there are.
    package mutating func begins(waitingSince arrived: Instant, isShared: Bool, at now: Instant) {
        guard let maximumWait, isShared, arrived.duration(to: now) > maximumWait else { return tooLongSince = nil }
        let since = tooLongSince ?? now
        tooLongSince = since
        if !isOn, since.duration(to: now) >= Self.interval { startInterval(at: now) }
    }

    /// A call has ended, and none waits.
    package mutating func lineIsEmpty() {
        tooLongSince = nil
        if isOn { emptyLines += 1 }
    }

    /// Whether a call that arrives now is to be refused.
    package mutating func refuses(_ line: Line, at now: Instant) -> Bool {
        guard let intervalEnd else { return false }
        if now >= intervalEnd {
            let isRecent = now < intervalEnd.advanced(by: Self.interval)
            guard isRecent, emptyLines < refused * Self.emptyLinesPerRefusal else {
                self.intervalEnd = nil
                return false
            }
            startInterval(at: now)
        }
        guard line.waiting >= Self.alwaysAdmitted, line.oldest.duration(to: now) > target, !line.isModest else {
            return false
        }
        refused += 1
        return true
    }

    private mutating func startInterval(at now: Instant) {
        intervalEnd = now.advanced(by: Self.interval)
        (refused, emptyLines) = (0, 0)
    }
}
