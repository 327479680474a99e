// Whether a call that comes now would wait so long for its turn that it is better refused. Pure: how long those have
// waited whose turn it is, and who waits before whom, in; the limit that keeps one more out, if one does, out.
//
// A burst makes a line that is soon gone, and a machine that was held up for a moment catches up: both are served whole.
// More comes than can be done when the line grows longer and longer without ever having been short, until it would last for
// half of a limit; or when everybody whose turn came for a tenth of a second had waited too long, and for others. Then the
// line is kept short, so that what is let in is answered nearly as soon as it would be alone, and the others are told at
// once instead of in the end. Callers who wait for each answer make a line that does not grow any more when all have come;
// and what a peer has asked for at once it waits for.

package import RPCWire

package struct Congestion: Sendable {
    /// How long it has to last before anybody is refused, and how long it is believed to last when nobody is any more.
    package static let patience: Duration = .milliseconds(100)
    /// So many may wait however long it takes: a call that waits for no more is still answered in a few times what it
    /// takes alone, and a server with fewer would often have nothing to do.
    package static let alwaysAdmitted = 3
    /// How long a call may wait for those of others, or for any where the line has grown, while more comes than can be
    /// done, if the limit is not shorter still. Enough for a server not to run out of work before it looks who has come.
    package static let shortWait: Duration = .milliseconds(2)
    /// How often it looks then.
    package static let shortTurn: Duration = .microseconds(500)
    /// The line is looked at in steps: of so long, and of so many calls done.
    package static let step: Duration = .milliseconds(25)
    package static let callsPerStep: Int64 = 16
    /// In so many of them it must have become longer than ever, by half of what was done meanwhile, and in the end too long
    /// for half of the shorter limit. Once is a burst.
    package static let stepsToGrow = 3
    /// Calls that take no longer are looked at together, so many at a time: reading the clock takes as long as much of what
    /// is done for one.
    package static let shortCall: Duration = .microseconds(10)
    package static let shortCallsPerLook: Int64 = 8

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
    private let shorterWait: Int64
    private let shortWait: Int64
    private let shortWaitForOthers: Int64
    private let patienceTime = patience.nanoseconds
    private let stepTime = step.nanoseconds
    private let shortCallTime = shortCall.nanoseconds
    /// How many calls have begun, ever.
    private var begun: Int64 = 0
    /// What one call in the line takes, in nanoseconds: the average of some sixteen looks.
    private var pace: Int64 = 0
    private var lastLook: Instant?
    /// What a call takes has been seen since the line began.
    private var hasSeenPace = false
    private var begunAtLook: Int64 = 0
    /// Since when everybody whose turn came had waited too long.
    private var tooLongSince: Instant?
    /// When it is seen next whether the line has grown; nil while there is none.
    private var stepEnd: Instant?
    private var begunAtStep: Int64 = 0
    /// How long it has been at most at the end of a step since it was last less than half of that.
    private var longest = 0
    /// In how many steps it has grown since then.
    private var grown = 0
    private var lastsUntil = Instant(nanoseconds: .min)
    /// Whether it lasts because the line grew: then nobody may have a long one, not even before calls of its own.
    private var comesSteadily = false
    /// While it lasts: since when those who come are counted, how many had begun then, and how many have been refused.
    private var countStart = Instant(nanoseconds: .min)
    private var begunAtCount: Int64 = 0
    private var refused: Int64 = 0

    /// - Parameters:
    ///   - maximumWait: how long a call may wait for its turn; zero for ever.
    ///   - forOthers: how long it may wait for the calls of other sessions; zero for ever.
    package init(maximumWait: Duration, forOthers: Duration) {
        func limit(_ wait: Duration) -> Int64 { wait > .zero ? wait.nanoseconds : .max }
        func short(_ wait: Duration) -> Int64 { wait > .zero ? min(wait, Self.shortWait).nanoseconds : .max }
        (self.maximumWait, shortWait) = (limit(maximumWait), short(maximumWait))
        (maximumWaitForOthers, shortWaitForOthers) = (limit(forOthers), short(forOthers))
        shorterWait = min(limit(maximumWait), limit(forOthers))
    }

    /// Whether more comes than can be done.
    package func lasts(at now: Instant) -> Bool { now < lastsUntil }

    /// A call begins.
    package mutating func begins() { begun &+= 1 }

    /// Whether `isNext` is to be told whose turn it is: always, unless calls are known to be short.
    package var isLookDue: Bool {
        !hasSeenPace || pace == 0 || pace > shortCallTime
            || begun &- begunAtLook >= Self.shortCallsPerLook
    }

    /// It is somebody's turn who has waited since then.
    /// - Returns: whether `sees` has to be told who still waits, which is not always looked at.
    package mutating func isNext(waitingSince arrived: Instant, at now: Instant) -> Bool {
        look(at: now)
        if hasWaitedTooLong(since: arrived, at: now) { return true }
        tooLongSince = nil
        guard let stepEnd else { return true }
        return now.nanoseconds > stepEnd.nanoseconds && begun &- begunAtStep >= Self.callsPerStep
    }

    /// Those who still wait then, as they stand to the session of who has waited since `arrived`.
    package mutating func sees(_ line: Line, waitingSince arrived: Instant, at now: Instant) {
        watch(line.waiting, at: now)
        if grown >= Self.stepsToGrow, takesLonger(line.waiting, than: shorterWait / 2) {
            grown = 0
            begin(at: now)
            comesSteadily = true
        }
        guard hasWaitedTooLong(since: arrived, at: now),
            limitOverrun(by: line, maximumWait, maximumWaitForOthers) != nil
        else { return tooLongSince = nil }
        let since = tooLongSince ?? now
        tooLongSince = since
        if now >= since.advanced(byNanoseconds: patienceTime) { begin(at: now) }
    }

    private func hasWaitedTooLong(since arrived: Instant, at now: Instant) -> Bool {
        now > arrived.advanced(byNanoseconds: shorterWait)
    }

    /// It is nobody's turn.
    package mutating func nobodyIsNext() {
        (lastLook, hasSeenPace, tooLongSince, stepEnd) = (nil, false, nil, nil)
    }

    /// Somebody comes.
    /// - Parameter line: those who wait, as they stand to that session.
    /// - Returns: the limit for which it is to be refused.
    @inline(__always)
    package mutating func refuses(in line: Line, at now: Instant) -> Limit? {
        guard now < lastsUntil else { return nil }
        return refusesWhileItLasts(line, at: now)
    }

    private mutating func refusesWhileItLasts(_ line: Line, at now: Instant) -> Limit? {
        guard line.waiting >= Self.alwaysAdmitted,
            let limit = limitOverrun(by: line, comesSteadily ? shortWait : maximumWait, shortWaitForOthers)
        else { return nil }
        let time = countStart.nanoseconds(to: now)
        if time >= patienceTime {
            // All that came could have been done.
            guard begun &- begunAtCount &+ refused > time / max(1, pace) else {
                lastsUntil = now
                return nil
            }
            count(from: now)
        }
        refused &+= 1
        lastsUntil = now.advanced(byNanoseconds: patienceTime)
        return limit
    }

    private mutating func look(at now: Instant) {
        let calls = begun &- begunAtLook
        if let lastLook, calls > 0 {
            let latest = (now.nanoseconds - lastLook.nanoseconds) / calls
            // That the whole machine stood still for once says nothing about calls; that it is busy does.
            hasSeenPace = true
            pace += (min(latest, max(4 * pace, patienceTime)) - pace) / 16
        }
        (lastLook, begunAtLook) = (now, begun)
    }

    private mutating func watch(_ waiting: Int, at now: Instant) {
        let done = begun &- begunAtStep
        if let stepEnd {
            guard now > stepEnd, done >= Self.callsPerStep else { return }
        } else {
            (longest, grown) = (.max, 0)
        }
        if waiting < longest / 2 {
            (longest, grown) = (waiting, 0)
        } else if waiting > longest {
            if Int64(waiting - longest) &* 2 >= done { grown += 1 }
            longest = waiting
        }
        (stepEnd, begunAtStep) = (now.advanced(byNanoseconds: stepTime), begun)
    }

    private func limitOverrun(by line: Line, _ wait: Int64, _ waitForOthers: Int64) -> Limit? {
        let others = line.others
        if others >= Self.alwaysAdmitted, takesLonger(others, than: waitForOthers) { return .maximumWaitForOthers }
        let all = line.own + others
        return line.own > 0 && all >= Self.alwaysAdmitted && takesLonger(all, than: wait) ? .maximumWait : nil
    }

    private func takesLonger(_ count: Int, than limit: Int64) -> Bool { Int64(count) > limit / max(1, pace) }

    private mutating func begin(at now: Instant) {
        if now >= lastsUntil { comesSteadily = false }
        lastsUntil = now.advanced(byNanoseconds: patienceTime)
        count(from: now)
    }

    private mutating func count(from now: Instant) {
        (countStart, begunAtCount, refused) = (now, begun, 0)
    }
}
