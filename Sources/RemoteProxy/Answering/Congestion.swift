// Whether a call that comes now would wait so long for its turn that it is better refused. Pure: how long those have
// waited whose turn it is, and who waits before whom, in; the limit that keeps one more out, if one does, out.
//
// A burst makes a line that is soon gone, and a machine that was held up for a moment catches up: both are served whole.
// Only when everybody whose turn came for a tenth of a second had waited too long does more come than can be done. Then
// a call is let in as long as those before it are done in time, so that what is let in is answered soon and the others
// are told at once instead of in the end. What a peer waits for its own calls it has asked for, and may be long.

package import RPCWire

package struct Congestion: Sendable {
    /// How long it has to last before anybody is refused, and how long it is believed to last when nobody is any more.
    package static let patience: Duration = .milliseconds(100)
    /// So many may wait however long it takes, or a subject that takes long by itself would be left without work.
    package static let alwaysAdmitted = 3

    /// In nanoseconds, which are quicker to reckon with.
    private let maximumWait: Int64
    private let maximumWaitForOthers: Int64
    private static let patienceTime = patience.nanoseconds
    /// What one call in the line takes, in nanoseconds: the average of some sixteen looks.
    private var pace: Int64 = 0
    private var lastLook: Instant?
    private var begunSinceLook: Int64 = 0
    /// Since when everybody whose turn came had waited too long.
    private var tooLongSince: Instant?
    private var lastsUntil = Instant(nanoseconds: .min)

    /// - Parameters:
    ///   - maximumWait: how long a call may wait for its turn; zero for ever.
    ///   - forOthers: how long it may wait for the calls of other sessions; zero for ever.
    package init(maximumWait: Duration, forOthers: Duration) {
        self.maximumWait = maximumWait > .zero ? maximumWait.nanoseconds : .max
        maximumWaitForOthers = forOthers > .zero ? forOthers.nanoseconds : .max
    }

    /// A call begins.
    package mutating func begins() { begunSinceLook &+= 1 }

    /// It is somebody's turn who has waited since then.
    package mutating func isNext(waitingSince arrived: Instant, at now: Instant) {
        if let lastLook, begunSinceLook > 0 {
            let latest = (now.nanoseconds - lastLook.nanoseconds) / begunSinceLook
            // That the whole machine stood still for once says nothing about calls; that it is busy does.
            pace += (min(latest, max(4 * pace, Self.patienceTime)) - pace) / 16
        }
        (lastLook, begunSinceLook) = (now, 0)
        let limit = min(maximumWait, maximumWaitForOthers)
        guard now > arrived.advanced(byNanoseconds: limit) else { return tooLongSince = nil }
        let since = tooLongSince ?? now
        tooLongSince = since
        if now >= since.advanced(byNanoseconds: Self.patienceTime) { last(from: now) }
    }

    /// It is nobody's turn.
    package mutating func nobodyIsNext() { (lastLook, tooLongSince) = (nil, nil) }

    /// Somebody comes.
    /// - Parameters:
    ///   - waiting: how many calls wait.
    ///   - own: how many of them are of this session.
    ///   - sessions: how many sessions have any that wait.
    /// - Returns: the limit for which it is to be refused.
    package mutating func refuses(waiting: Int, own: Int, sessions: Int, at now: Instant) -> Limit? {
        guard now < lastsUntil, waiting >= Self.alwaysAdmitted else { return nil }
        let others = Self.others(waiting: waiting, own: own, sessions: sessions)
        let limit: Limit
        if others >= Self.alwaysAdmitted, takesLonger(others, than: maximumWaitForOthers) {
            limit = .maximumWaitForOthers
        } else if own > 0, takesLonger(waiting, than: maximumWait) {
            limit = .maximumWait
        } else {
            return nil
        }
        last(from: now)
        return limit
    }

    /// How many calls of others would go before one more of a session if all sessions took turns. So whoever asks for much
    /// does not keep those out who ask for little.
    private static func others(waiting: Int, own: Int, sessions: Int) -> Int {
        let (others, sessions) = (max(0, waiting - own), own > 0 ? sessions - 1 : sessions)
        return min(others, sessions * (own + 1))
    }

    private func takesLonger(_ count: Int, than limit: Int64) -> Bool { Int64(count) > limit / max(1, pace) }

    private mutating func last(from now: Instant) { lastsUntil = now.advanced(byNanoseconds: Self.patienceTime) }
}
