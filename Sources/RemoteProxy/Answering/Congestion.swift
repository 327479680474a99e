// Whether a call that comes now would wait so long for its turn that it is better refused. Pure: how long those have
// waited whose turn it is, and who waits before whom, in; the limit that keeps one more out, if one does, out.
//
// A burst makes a line that is soon gone, and a machine that was held up for a moment catches up: both are served whole.
// Only when everybody whose turn came for a tenth of a second had waited too long, and for others, does more come than
// can be done. Then the line is kept short, so that what is let in is answered nearly as soon as it would be alone, and
// the others are told at once instead of in the end. What a peer waits for its own calls it has asked for, and may be
// long.

package import RPCWire

package struct Congestion: Sendable {
    /// How long it has to last before anybody is refused, and how long it is believed to last when nobody is any more.
    package static let patience: Duration = .milliseconds(100)
    /// So many may wait however long it takes: a call that waits for no more is still answered in a few times what it
    /// takes alone, and a server with fewer would often have nothing to do.
    package static let alwaysAdmitted = 3
    /// How long a call may wait for those of others while more comes than can be done, if the limit is not shorter
    /// still. Enough for a server not to run out of work before it looks who has come.
    package static let shortWait: Duration = .milliseconds(5)
    /// More does not come than can be done if of those who begin one in so many leaves nobody waiting.
    private static let idleShare: Int64 = 4

    /// Who stands before one of a session.
    package struct Line: Sendable {
        /// How many calls wait.
        package var waiting: Int
        /// How many of them are of that session.
        package var own: Int
        /// How many sessions have any that wait.
        package var sessions: Int

        package init(waiting: Int, own: Int, sessions: Int) {
            (self.waiting, self.own, self.sessions) = (waiting, own, sessions)
        }

        /// How many calls of others would go before one more of the session if all sessions took turns. So whoever asks
        /// for much does not keep those out who ask for little.
        fileprivate var others: Int {
            let others = own > 0 ? sessions - 1 : sessions
            return min(max(0, waiting - own), others * (own + 1))
        }
    }

    /// In nanoseconds, which are quicker to reckon with.
    private let maximumWait: Int64
    private let maximumWaitForOthers: Int64
    private let shortWaitForOthers: Int64
    private static let patienceTime = patience.nanoseconds
    /// What one call in the line takes, in nanoseconds: the average of some sixteen looks.
    private var pace: Int64 = 0
    private var lastLook: Instant?
    private var begunSinceLook: Int64 = 0
    /// Since when everybody whose turn came had waited too long.
    private var tooLongSince: Instant?
    private var lastsUntil = Instant(nanoseconds: .min)
    /// While it lasts: when those who begin are counted anew, how many have begun, and how many left nobody waiting.
    private var countEnd = Instant(nanoseconds: .min)
    private var begun: Int64 = 0
    private var leftNobody: Int64 = 0

    /// - Parameters:
    ///   - maximumWait: how long a call may wait for its turn; zero for ever.
    ///   - forOthers: how long it may wait for the calls of other sessions; zero for ever.
    package init(maximumWait: Duration, forOthers: Duration) {
        self.maximumWait = maximumWait > .zero ? maximumWait.nanoseconds : .max
        maximumWaitForOthers = forOthers > .zero ? forOthers.nanoseconds : .max
        shortWaitForOthers = forOthers > .zero ? min(forOthers, Self.shortWait).nanoseconds : .max
    }

    /// A call begins.
    package mutating func begins() {
        begunSinceLook &+= 1
        begun &+= 1
    }

    /// It is somebody's turn who has waited since then.
    /// - Parameter line: those who still wait, as they stand to that session.
    package mutating func isNext(waitingSince arrived: Instant, in line: @autoclosure () -> Line, at now: Instant) {
        if let lastLook, begunSinceLook > 0 {
            let latest = (now.nanoseconds - lastLook.nanoseconds) / begunSinceLook
            // That the whole machine stood still for once says nothing about calls; that it is busy does.
            pace += (min(latest, max(4 * pace, Self.patienceTime)) - pace) / 16
        }
        (lastLook, begunSinceLook) = (now, 0)
        let limit = min(maximumWait, maximumWaitForOthers)
        guard now > arrived.advanced(byNanoseconds: limit), limitOverrun(by: line(), maximumWaitForOthers) != nil else {
            return tooLongSince = nil
        }
        let since = tooLongSince ?? now
        tooLongSince = since
        if now >= since.advanced(byNanoseconds: Self.patienceTime) { last(from: now) }
    }

    /// It is nobody's turn.
    package mutating func nobodyIsNext() {
        (lastLook, tooLongSince) = (nil, nil)
        leftNobody &+= 1
    }

    /// Somebody comes.
    /// - Parameter line: those who wait, as they stand to that session.
    /// - Returns: the limit for which it is to be refused.
    package mutating func refuses(in line: Line, at now: Instant) -> Limit? {
        guard now < lastsUntil, line.waiting >= Self.alwaysAdmitted,
            let limit = limitOverrun(by: line, shortWaitForOthers)
        else { return nil }
        if now >= countEnd {
            guard leftNobody == 0 || leftNobody &* Self.idleShare < begun else {
                lastsUntil = now
                return nil
            }
            count(from: now)
        }
        last(from: now)
        return limit
    }

    private func limitOverrun(by line: Line, _ waitForOthers: Int64) -> Limit? {
        let others = line.others
        if others >= Self.alwaysAdmitted, takesLonger(others, than: waitForOthers) { return .maximumWaitForOthers }
        return line.own > 0 && takesLonger(line.waiting, than: maximumWait) ? .maximumWait : nil
    }

    private func takesLonger(_ count: Int, than limit: Int64) -> Bool { Int64(count) > limit / max(1, pace) }

    private mutating func last(from now: Instant) {
        if now >= lastsUntil { count(from: now) }
        lastsUntil = now.advanced(byNanoseconds: Self.patienceTime)
    }

    private mutating func count(from now: Instant) {
        (begun, leftNobody) = (0, 0)
        countEnd = now.advanced(byNanoseconds: Self.patienceTime)
    }
}
