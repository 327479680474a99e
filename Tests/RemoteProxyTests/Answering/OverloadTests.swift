// When a line is an overload, which calls are refused then, and when it is over: on a clock that is moved by hand.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `An overload` {
    private static let interval = Overload.interval
    private static let wait = Duration.milliseconds(20)
    private let start = Instant(nanoseconds: 1_000_000_000)
    private let tooLong = wait + .nanoseconds(1)

    private func after(_ duration: Duration) -> Instant { start.advanced(by: duration) }

    /// A line from which a call goes each millisecond, for so long, and each has waited for `waited`.
    private func line(
        _ waited: Duration, for time: Duration, isShared: Bool = true, maximumWait: Duration = wait
    ) -> Overload {
        var overload = Overload(maximumWait: maximumWait)
        for millisecond in 0...time.nanoseconds / 1_000_000 {
            let now = after(.milliseconds(millisecond))
            overload.begins(waitingSince: now.advanced(by: .zero - waited), isShared: isShared, at: now)
        }
        return overload
    }

    /// Calls that have waited for so long, one of each session, before one of another.
    private func crowd(_ waited: Duration, waiting: Int = 1_000, at now: Instant) -> Overload.Line {
        Overload.Line(oldest: now.advanced(by: .zero - waited), waiting: waiting, own: 0, sessions: waiting)
    }

    private func refuses(_ overload: inout Overload, after time: Duration) -> Bool {
        let now = after(time)
        return overload.refuses(crowd(tooLong, at: now), at: now)
    }

    @Test func `begins when all calls have waited too long for an interval`() {
        var overload = line(tooLong, for: Self.interval)
        #expect(overload.isOn)
        #expect(refuses(&overload, after: Self.interval))
    }

    @Test func `is no burst, however long its line`() {
        var overload = line(tooLong, for: Self.interval - .milliseconds(1))
        #expect(!overload.isOn)
        #expect(!refuses(&overload, after: Self.interval))
    }

    @Test(arguments: [true, false])
    func `does not begin when a call has been in time, or the line empty`(byEmptyLine: Bool) {
        var overload = line(tooLong, for: Self.interval - .milliseconds(1))
        let now = after(Self.interval)
        if byEmptyLine {
            overload.lineIsEmpty()
        } else {
            overload.begins(waitingSince: now.advanced(by: .zero - Self.wait), isShared: true, at: now)
        }
        overload.begins(waitingSince: now.advanced(by: .zero - tooLong), isShared: true, at: now)
        #expect(!overload.isOn)
    }

    @Test func `does not begin while a session waits only for its own calls, or where no wait is too long`() {
        #expect(!line(.seconds(60), for: Self.interval * 3, isShared: false).isOn)
        #expect(!line(.seconds(60), for: Self.interval * 3, maximumWait: .zero).isOn)
    }

    @Test func `does not begin where a machine stood still, since its line gets shorter`() {
        var overload = Overload(maximumWait: Self.wait)
        overload.begins(waitingSince: start, isShared: true, at: start)
        // Nothing ran for a second. What had gathered is served in half an interval.
        for millisecond in 0..<50 {
            overload.begins(waitingSince: start, isShared: true, at: after(.milliseconds(1_000 + millisecond)))
        }
        overload.lineIsEmpty()
        #expect(!overload.isOn)
    }

    @Test func `refuses a call when the first in a line of several has waited for longer than the target`() {
        let now = after(Self.interval)
        var overload = line(tooLong, for: Self.interval)
        let late = Overload.target + .nanoseconds(1)
        let (short, most) = (Overload.alwaysAdmitted - 1, Overload.alwaysAdmitted)
        let refusals = [
            overload.refuses(crowd(Overload.target, at: now), at: now),
            overload.refuses(crowd(late, waiting: short, at: now), at: now),
            overload.refuses(crowd(late, waiting: most, at: now), at: now),
        ]
        #expect(refusals == [false, false, true])
    }

    @Test func `has a shorter target where no call may wait that long`() {
        let now = after(Self.interval)
        var overload = line(.milliseconds(3), for: Self.interval, maximumWait: .milliseconds(2))
        let refusals = [2, 3].map { overload.refuses(crowd(.milliseconds($0), at: now), at: now) }
        #expect(refusals == [false, true])
    }

    @Test(arguments: [
        // Two sessions with much, and one with nothing or little.
        (1_000, 0, 2, false), (1_002, 2, 3, false), (1_000, 500, 2, true), (1_000, 300, 3, true),
        // One with nothing beside two that have two calls between them and more, in a short line.
        (3, 0, 2, false), (3, 0, 3, true),
        // One of many that have one each.
        (100, 0, 100, true), (101, 1, 101, true),
    ])
    func `refuses those who ask for as much as the others, not those who ask for less than half`(
        waiting: Int, own: Int, sessions: Int, refuses: Bool
    ) {
        let now = after(Self.interval)
        var overload = line(tooLong, for: Self.interval)
        let oldest = now.advanced(by: .zero - tooLong)
        let line = Overload.Line(oldest: oldest, waiting: waiting, own: own, sessions: sessions)
        #expect(overload.refuses(line, at: now) == refuses)
    }

    @Test(arguments: [(10, 39, true), (10, 40, false), (0, 0, false)])
    func `ends when the line has been empty four times as often as a call was refused`(
        refused: Int, emptyLines: Int, goesOn: Bool
    ) {
        var overload = line(tooLong, for: Self.interval)
        let last = Self.interval * 2 - .milliseconds(1)
        for _ in 0..<refused { #expect(refuses(&overload, after: last)) }
        for _ in 0..<emptyLines { overload.lineIsEmpty() }
        // Judged at the end of the interval, and by the next one anew.
        #expect(refuses(&overload, after: Self.interval * 2) == goesOn)
        #expect(overload.isOn == goesOn)
        #expect(refuses(&overload, after: Self.interval * 3) == goesOn)
    }

    @Test func `ends when no call has come for an interval`() {
        var overload = line(tooLong, for: Self.interval)
        #expect(refuses(&overload, after: Self.interval))
        #expect(!refuses(&overload, after: Self.interval * 3))
        #expect(!overload.isOn)
    }
}
