// When one more caller is refused: lines of every kind on a clock that is moved by hand.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `The line of waiting calls` {
    private static let patience = Congestion.patience
    private static let wait = Duration.milliseconds(20)
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func after(_ duration: Duration) -> Instant { start.advanced(by: duration) }

    /// Many sessions, each with a call that waits, before one with none.
    private static let crowd = Congestion.Line(waiting: 1_000, own: 0, sessions: 1_000)

    /// A line in which everybody has waited for `waited`, for so long, at a call a millisecond. The first look of all is
    /// before that, or nothing would be known of how long a call takes.
    private func line(
        _ waited: Duration, for time: Duration, maximumWait: Duration = wait, forOthers: Duration = wait,
        in line: Congestion.Line = crowd, callsPerMillisecond: Int = 1
    ) -> Congestion {
        var congestion = Congestion(maximumWait: maximumWait, forOthers: forOthers)
        for millisecond in -1...time.nanoseconds / 1_000_000 {
            let now = after(.milliseconds(millisecond))
            for _ in 0..<callsPerMillisecond { congestion.begins() }
            congestion.isNext(waitingSince: now.advanced(by: .zero - waited), in: line, at: now)
        }
        return congestion
    }

    private let tooLong = wait + .nanoseconds(1)

    @Test func `nobody is refused while there is hardly anybody`() {
        var congestion = line(tooLong, for: Self.patience)
        for waiting in 0..<Congestion.alwaysAdmitted {
            let refused = congestion.refuses(
                in: .init(waiting: waiting, own: waiting, sessions: 1), at: after(Self.patience))
            #expect(refused == nil)
        }
    }

    @Test func `short calls are looked at together, and each call as soon as one of them has taken long`() {
        var congestion = Congestion(maximumWait: Self.wait, forOthers: Self.wait)
        var now = start
        func looks(at calls: Int, thatTake time: Duration) -> Int {
            var looks = 0
            for _ in 0..<calls {
                congestion.begins()
                now = now.advanced(by: time)
                guard congestion.isLookDue else { continue }
                looks += 1
                congestion.isNext(waitingSince: now, in: Self.crowd, at: now)
            }
            return looks
        }
        let together = Int(Congestion.shortCallsPerLook)
        // What one takes is known when the second has been looked at.
        #expect(looks(at: 2, thatTake: .microseconds(1)) == 2)
        #expect(looks(at: 10 * together, thatTake: .microseconds(1)) == 10)
        #expect(looks(at: together, thatTake: .milliseconds(1)) == 1)
        #expect(looks(at: 10, thatTake: .milliseconds(1)) == 10)
        #expect(looks(at: 10, thatTake: Congestion.shortCall + .microseconds(1)) == 10)
        congestion.nobodyIsNext()
        #expect(looks(at: 1, thatTake: .microseconds(1)) == 1)
        // Long ones after short ones are known at once, also where a line is over before the next look were due.
        _ = looks(at: 1_000 * together, thatTake: .microseconds(1))
        congestion.nobodyIsNext()
        #expect(looks(at: together, thatTake: .milliseconds(1)) == together)
    }

    @Test func `a burst is not refused, however long it is`() {
        var congestion = line(tooLong, for: Self.patience - .milliseconds(1))
        let refused = congestion.refuses(
            in: .init(waiting: 1_000, own: 1, sessions: 1_000), at: after(Self.patience - .milliseconds(1)))
        #expect(refused == nil)
    }

    @Test func `a machine that was held up is no overload: its line gets shorter`() {
        var congestion = Congestion(maximumWait: Self.wait, forOthers: Self.wait)
        congestion.begins()
        congestion.isNext(waitingSince: start, in: Self.crowd, at: start)
        // Nothing ran for a second; then all that waited is served in half a tenth of one.
        for millisecond in 0..<50 {
            congestion.begins()
            congestion.isNext(waitingSince: start, in: Self.crowd, at: after(.milliseconds(1_000 + millisecond)))
        }
        congestion.nobodyIsNext()
        for millisecond in 0..<80 {
            let now = after(.milliseconds(1_050 + millisecond))
            congestion.begins()
            congestion.isNext(waitingSince: now.advanced(by: .zero - tooLong), in: Self.crowd, at: now)
            let refused = congestion.refuses(in: .init(waiting: 1_000, own: 1, sessions: 1_000), at: now)
            #expect(refused == nil)
        }
    }

    @Test func `one whose turn came in time ends it`() {
        var congestion = line(tooLong, for: Self.patience - .milliseconds(1))
        let now = after(Self.patience)
        congestion.isNext(waitingSince: now.advanced(by: .zero - Self.wait), in: Self.crowd, at: now)
        congestion.isNext(waitingSince: now.advanced(by: .zero - tooLong), in: Self.crowd, at: now)
        let refused = congestion.refuses(in: .init(waiting: 1_000, own: 1, sessions: 1_000), at: now)
        #expect(refused == nil)
    }

    @Test func `a line of which each session has little before others is none that is too long`() {
        // However long they have waited: one session has asked for nearly all of it, and a few for a call each.
        for sessions in [1, 10] {
            let own = Congestion.Line(waiting: 1_000, own: 1_000 - sessions, sessions: sessions)
            var congestion = line(tooLong, for: Self.patience * 3, maximumWait: .seconds(5), in: own)
            let refused = congestion.refuses(in: Self.crowd, at: after(Self.patience * 3))
            #expect(refused == nil)
        }
    }

    @Test func `when it has lasted, whoever comes is let in as long as those before it are done shortly`() {
        let now = after(Self.patience * 2)
        // Four calls take a millisecond by then, or a little less as far as is known.
        var shortly = line(tooLong, for: Self.patience * 2, callsPerMillisecond: 4)
        let refusals = [8, 9, 8, 1_000].map { shortly.refuses(in: .others($0), at: now) }
        #expect(refusals == [nil, .maximumWaitForOthers, nil, .maximumWaitForOthers])
    }

    @Test func `a limit that is shorter still stays what it is, and calls that take long may wait for three`() {
        let now = after(Self.patience * 2)
        var shorter = line(
            .seconds(1), for: Self.patience * 2, forOthers: .milliseconds(1), callsPerMillisecond: 4)
        let refusals = [4, 5].map { shorter.refuses(in: .others($0), at: now) }
        #expect(refusals == [nil, .maximumWaitForOthers])
        var slow = Congestion(maximumWait: Self.wait, forOthers: Self.wait)
        for call in 0...40 {
            let now = after(.milliseconds(50 * call))
            slow.begins()
            slow.isNext(waitingSince: now.advanced(by: .zero - tooLong), in: Self.crowd, at: now)
        }
        let slowRefusals = [2, 3].map { slow.refuses(in: .others($0), at: after(.seconds(2))) }
        #expect(slowRefusals == [nil, .maximumWaitForOthers])
    }

    @Test func `a standstill does not make calls count as so much longer than they are`() {
        var congestion = line(tooLong, for: Self.patience, maximumWait: .seconds(5))
        let now = after(.seconds(60))
        congestion.begins()
        congestion.isNext(waitingSince: start, in: Self.crowd, at: now)
        // It counts as a call of a tenth of a second among sixteen of a millisecond.
        let short = congestion.refuses(in: .init(waiting: 600, own: 600, sessions: 1), at: now)
        let long = congestion.refuses(in: .init(waiting: 800, own: 800, sessions: 1), at: now)
        #expect(short == nil && long == .maximumWait)
    }

    @Test func `it lasts until nobody has been refused for as long`() {
        var congestion = line(tooLong, for: Self.patience)
        var refusals: [Limit?] = []
        for time in [Self.patience - .milliseconds(1), Self.patience * 2 - .milliseconds(2), Self.patience * 3] {
            let now = after(Self.patience + time)
            for _ in 0..<200 { congestion.begins() }
            refusals.append(congestion.refuses(in: .init(waiting: 100, own: 0, sessions: 100), at: now))
        }
        #expect(refusals == [.maximumWaitForOthers, .maximumWaitForOthers, nil])
    }

    /// Calls of a millisecond, for a tenth of a second.
    @Test(arguments: [(50, 49, false), (50, 52, true), (99, 1, false), (100, 2, true), (0, 102, true)])
    func `it is over when all that came could have been done`(done: Int, refused: Int, lasts: Bool) {
        var congestion = line(tooLong, for: Self.patience)
        func refusal(after time: Duration) -> Limit? {
            congestion.refuses(in: Self.crowd, at: after(Self.patience + time))
        }
        for _ in 0..<done { congestion.begins() }
        // Not before they have been counted for as long as it had to last.
        for _ in 0..<refused { #expect(refusal(after: Self.patience - .milliseconds(1)) != nil) }
        #expect((refusal(after: Self.patience) != nil) == lasts)
        #expect((refusal(after: Self.patience) != nil) == lasts)
    }

    /// What becomes of a call after the line has been as long as this, a step of a millisecond's calls after the other.
    private func refusal(after lengths: [Int], isOwn: Bool = false, wasEmptyBefore empty: Int? = nil) -> Limit? {
        var congestion = Congestion(maximumWait: .seconds(5), forOthers: .milliseconds(250))
        var now = start
        for (step, length) in lengths.enumerated() {
            if step == empty { congestion.nobodyIsNext() }
            let line =
                isOwn ? Congestion.Line(waiting: length, own: length, sessions: 1) : .others(length)
            // The line is as long as this at the end of the step, and all along it.
            for _ in 0..<Congestion.step.nanoseconds / 1_000_000 {
                congestion.isNext(waitingSince: now, in: line, at: now)
                congestion.begins()
                now = now.advanced(by: .milliseconds(1))
            }
        }
        let line = isOwn ? Congestion.Line(waiting: 50, own: 50, sessions: 1) : .others(50)
        congestion.isNext(waitingSince: now, in: line, at: now)
        return congestion.refuses(in: line, at: now)
    }

    @Test func `a line that becomes longer and longer is too long before anybody has waited for long`() {
        #expect(refusal(after: [110, 123, 136, 149]) == .maximumWaitForOthers)
        #expect(refusal(after: [110, 123, 136, 149], isOwn: true) == .maximumWait)
        // Not by half of what is done: that may be chance.
        #expect(refusal(after: [110, 122, 134, 146, 158]) == nil)
    }

    @Test func `a line that grows is none that is too long before it would last for half of the shorter limit`() {
        #expect(refusal(after: [23, 49, 75, 101, 124]) == nil)
        #expect(refusal(after: [23, 49, 75, 101, 130]) == .maximumWaitForOthers)
    }

    @Test func `what comes at once is a burst, and so is what comes twice`() {
        for isOwn in [true, false] {
            #expect(refusal(after: [10, 1_000, 1_000, 1_000, 1_000], isOwn: isOwn) == nil)
            #expect(refusal(after: [10, 500, 1_000, 975, 950, 925], isOwn: isOwn) == nil)
        }
    }

    @Test func `a line that gets shorter between times has not grown until it is longer than ever`() {
        #expect(refusal(after: [210, 250, 240, 260, 250, 260, 250, 260]) == nil)
        #expect(refusal(after: [210, 250, 240, 270, 260, 290]) == .maximumWaitForOthers)
    }

    @Test func `a line that has been short begins anew`() {
        #expect(refusal(after: [200, 250, 300, 149, 175, 195]) == nil)
        #expect(refusal(after: [200, 250, 300, 350], wasEmptyBefore: 2) == nil)
    }

    /// What becomes of one who comes to a line in which everybody has waited too long for long enough.
    private func refusal(
        waiting: Int, own: Int, sessions: Int, maximumWait: Duration = .zero, forOthers: Duration = wait,
        callsPerMillisecond: Int = 1
    ) -> Limit? {
        let time = Self.patience * 2
        var congestion = line(
            tooLong, for: time, maximumWait: maximumWait, forOthers: forOthers, callsPerMillisecond: callsPerMillisecond
        )
        return congestion.refuses(in: .init(waiting: waiting, own: own, sessions: sessions), at: after(time))
    }

    @Test func `what a session waits for its own calls has a limit of its own`() {
        #expect(refusal(waiting: 900, own: 900, sessions: 1, maximumWait: .seconds(1)) == nil)
        #expect(refusal(waiting: 1_200, own: 1_200, sessions: 1, maximumWait: .seconds(1)) == .maximumWait)
        // One that has nothing in the line does not wait for itself.
        #expect(refusal(waiting: 1_200, own: 0, sessions: 1, maximumWait: .seconds(1)) == nil)
    }

    @Test func `who asks for much is kept out before who asks for little`() {
        func refusal(waiting: Int, own: Int, sessions: Int) -> Limit? {
            self.refusal(waiting: waiting, own: own, sessions: sessions, callsPerMillisecond: 4)
        }
        // Two sessions with much, and two with a call or none.
        #expect(refusal(waiting: 1_002, own: 500, sessions: 4) == .maximumWaitForOthers)
        #expect(refusal(waiting: 1_002, own: 3, sessions: 4) == .maximumWaitForOthers)
        #expect(refusal(waiting: 1_002, own: 0, sessions: 4) == nil)
        // With one that has much and one with little, neither waits long for the other.
        #expect(refusal(waiting: 1_000, own: 999, sessions: 2) == nil)
        #expect(refusal(waiting: 1_000, own: 1, sessions: 2) == nil)
    }

    @Test func `without limits nobody is refused`() {
        #expect(refusal(waiting: 10_000, own: 5_000, sessions: 5_000, forOthers: .zero) == nil)
    }
}

extension Congestion {
    /// A look and what it sees, as a server does it.
    mutating func isNext(waitingSince arrived: Instant, in line: Line, at now: Instant) {
        if isNext(waitingSince: arrived, at: now) { sees(line, waitingSince: arrived, at: now) }
    }
}

extension Congestion.Line {
    /// Calls of as many sessions, before one of another.
    static func others(_ count: Int) -> Congestion.Line { Congestion.Line(waiting: count, own: 0, sessions: count) }
}
