// Whether more calls come than can be served, and which calls to refuse then. Pure: waiting times go in, a decision comes out.
//
// This is CoDel (Nichols and Jacobson, "Controlling Queue Delay", 2012) as servers use it for requests (Maurer, "Fail at
// Scale", 2015). A burst makes a line that is soon gone, so the length of a line says nothing. A line is an overload when every
// call that left it during an interval had waited too long. From then on calls are refused on arrival while the line is longer
// than a target. So the calls that are let in are answered nearly as soon as they would be alone.

package import RPCWire

/// Decides for one loop. A server with several threads has one value for each.
package struct Overload: Sendable {
    /// How long calls wait in the line while the overload lasts.
    package static let target: Duration = .milliseconds(5)
    /// How long all waits have to be too long before the first call is refused. Also how often the end of an overload is
    /// checked.
    package static let interval: Duration = .milliseconds(100)
    /// A line this short is never refused: otherwise a server whose calls take longer than the target would run out of work.
    package static let alwaysAdmitted = 3
    /// An overload lasts while the line is empty less than this often for each refused call: it may be empty by chance.
    private static let emptyLinesPerRefusal = 4

    /// The calls that wait, as a new call finds them.
    package struct Line: Sendable {
        /// When the first of them arrived.
        package var oldest: Instant
        package var waiting: Int
        /// How many of these calls belong to the new call's session.
        package var own: Int
        /// How many sessions these calls belong to.
        package var sessions: Int

        package init(oldest: Instant, waiting: Int, own: Int, sessions: Int) {
            (self.oldest, self.waiting, self.own, self.sessions) = (oldest, waiting, own, sessions)
        }

        /// Whether the new call's session asks for little beside others. It does if it has no call in the line while another
        /// session has several. It also does if, with the new call, it has at most half of the average of all sessions.
        fileprivate var isModest: Bool { own == 0 ? sessions < waiting : 2 * (own + 1) * sessions <= waiting }
    }

    private let maximumWait: Duration?
    private let target: Duration
    /// Since when all waits have been too long; nil while they are not.
    private var tooLongSince: Instant?
    /// When the counts below are judged; nil without an overload.
    private var intervalEnd: Instant?
    private var refused = 0
    private var emptyLines = 0

    /// - Parameter maximumWait: a call that waits longer waits too long. With zero no wait is too long, and no call is refused.
    package init(maximumWait: Duration) {
        self.maximumWait = maximumWait > .zero ? maximumWait : nil
        target = min(maximumWait, Self.target)
    }

    /// Whether there is an overload.
    package var isOn: Bool { intervalEnd != nil }

    /// Called when a call is about to leave the line.
    /// - Parameter isShared: whether calls of several sessions wait. If only one session waits, its calls are not refused: it
    ///   asked for them, and the limits of its connection bound their number.
    package mutating func begins(waitingSince arrived: Instant, isShared: Bool, at now: Instant) {
        guard let maximumWait, isShared, arrived.duration(to: now) > maximumWait else { return tooLongSince = nil }
        let since = tooLongSince ?? now
        tooLongSince = since
        if !isOn, since.duration(to: now) >= Self.interval { startInterval(at: now) }
    }

    /// Called when a call has ended and no call waits.
    package mutating func lineIsEmpty() {
        tooLongSince = nil
        if isOn { emptyLines += 1 }
    }

    /// Whether to refuse a call that arrives now.
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
