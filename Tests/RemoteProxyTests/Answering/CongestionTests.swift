// When one more caller is refused: lines of every kind on a clock that is moved by hand, and a server of one's own making
// that gets twice as many calls as it can serve.

import RPCWire
import Testing

@testable import RemoteProxy

@Suite struct `The line of waiting calls` {
    private static let patience = Congestion.patience
    private static let wait = Duration.milliseconds(20)
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func after(_ duration: Duration) -> Instant { start.advanced(by: duration) }

    /// A line in which everybody has waited for `waited`, for so long, at a call a millisecond.
    private func line(
        _ waited: Duration, for time: Duration, maximumWait: Duration = wait, forOthers: Duration = wait
    ) -> Congestion {
        var congestion = Congestion(maximumWait: maximumWait, forOthers: forOthers)
        for millisecond in 0...time.nanoseconds / 1_000_000 {
            let now = after(.milliseconds(millisecond))
            congestion.begins()
            congestion.isNext(waitingSince: now.advanced(by: .zero - waited), at: now)
        }
        return congestion
    }

    private let tooLong = wait + .nanoseconds(1)

    @Test func `nobody is refused while there is hardly anybody`() {
        var congestion = line(tooLong, for: Self.patience)
        for waiting in 0..<Congestion.alwaysAdmitted {
            let refused = congestion.refuses(waiting: waiting, own: waiting, sessions: 1, at: after(Self.patience))
            #expect(refused == nil)
        }
    }

    @Test func `a burst is not refused, however long it is`() {
        var congestion = line(tooLong, for: Self.patience - .milliseconds(1))
        let refused = congestion.refuses(
            waiting: 1_000, own: 1, sessions: 1_000, at: after(Self.patience - .milliseconds(1)))
        #expect(refused == nil)
    }

    @Test func `a machine that was held up is no overload: its line gets shorter`() {
        var congestion = Congestion(maximumWait: Self.wait, forOthers: Self.wait)
        congestion.begins()
        congestion.isNext(waitingSince: start, at: start)
        // Nothing ran for a second; then all that waited is served in half a tenth of one.
        for millisecond in 0..<50 {
            congestion.begins()
            congestion.isNext(waitingSince: start, at: after(.milliseconds(1_000 + millisecond)))
        }
        congestion.nobodyIsNext()
        for millisecond in 0..<80 {
            let now = after(.milliseconds(1_050 + millisecond))
            congestion.begins()
            congestion.isNext(waitingSince: now.advanced(by: .zero - tooLong), at: now)
            let refused = congestion.refuses(waiting: 1_000, own: 1, sessions: 1_000, at: now)
            #expect(refused == nil)
        }
    }

    @Test func `one whose turn came in time ends it`() {
        var congestion = line(tooLong, for: Self.patience - .milliseconds(1))
        let now = after(Self.patience)
        congestion.isNext(waitingSince: now.advanced(by: .zero - Self.wait), at: now)
        congestion.isNext(waitingSince: now.advanced(by: .zero - tooLong), at: now)
        let refused = congestion.refuses(waiting: 1_000, own: 1, sessions: 1_000, at: now)
        #expect(refused == nil)
    }

    @Test func `when it has lasted, whoever comes is let in as long as those before it are done in time`() {
        let now = after(Self.patience)
        var inTime = line(tooLong, for: Self.patience)
        // A call takes a millisecond by then, or a little less as far as is known.
        let short = inTime.refuses(waiting: 20, own: 0, sessions: 20, at: now)
        let long = inTime.refuses(waiting: 25, own: 0, sessions: 25, at: now)
        let shortAgain = inTime.refuses(waiting: 19, own: 0, sessions: 19, at: now)
        #expect(short == nil && long == .maximumWaitForOthers && shortAgain == nil)
    }

    @Test func `a standstill does not make calls count as so much longer than they are`() {
        var congestion = line(tooLong, for: Self.patience, maximumWait: .seconds(5))
        let now = after(.seconds(60))
        congestion.begins()
        congestion.isNext(waitingSince: start, at: now)
        // It counts as a call of a tenth of a second among sixteen of a millisecond.
        let short = congestion.refuses(waiting: 600, own: 600, sessions: 1, at: now)
        let long = congestion.refuses(waiting: 800, own: 800, sessions: 1, at: now)
        #expect(short == nil && long == .maximumWait)
    }

    @Test func `it lasts until nobody has been refused for as long`() {
        var congestion = line(tooLong, for: Self.patience)
        congestion.nobodyIsNext()
        var refusals: [Limit?] = []
        for time in [Self.patience - .milliseconds(1), Self.patience * 2 - .milliseconds(2), Self.patience * 3] {
            let now = after(Self.patience + time)
            refusals.append(congestion.refuses(waiting: 100, own: 0, sessions: 100, at: now))
        }
        #expect(refusals == [.maximumWaitForOthers, .maximumWaitForOthers, nil])
    }

    /// What becomes of one who comes to a line in which everybody has waited too long for long enough.
    private func refusal(
        waiting: Int, own: Int, sessions: Int, maximumWait: Duration = .zero, forOthers: Duration = wait
    ) -> Limit? {
        var congestion = line(tooLong, for: Self.patience, maximumWait: maximumWait, forOthers: forOthers)
        return congestion.refuses(waiting: waiting, own: own, sessions: sessions, at: after(Self.patience))
    }

    @Test func `what a session waits for its own calls has a limit of its own`() {
        #expect(refusal(waiting: 900, own: 900, sessions: 1, maximumWait: .seconds(1)) == nil)
        #expect(refusal(waiting: 1_200, own: 1_200, sessions: 1, maximumWait: .seconds(1)) == .maximumWait)
        // One that has nothing in the line does not wait for itself.
        #expect(refusal(waiting: 1_200, own: 0, sessions: 1, maximumWait: .seconds(1)) == nil)
    }

    @Test func `who asks for much is kept out before who asks for little`() {
        // Two sessions with much, and ten with a call or none.
        #expect(refusal(waiting: 1_010, own: 500, sessions: 12) == .maximumWaitForOthers)
        #expect(refusal(waiting: 1_010, own: 1, sessions: 12) == .maximumWaitForOthers)
        #expect(refusal(waiting: 1_010, own: 0, sessions: 12) == nil)
        // With one that has much and one with little, neither waits long for the other.
        #expect(refusal(waiting: 1_000, own: 999, sessions: 2) == nil)
        #expect(refusal(waiting: 1_000, own: 1, sessions: 2) == nil)
    }

    @Test func `without limits nobody is refused`() {
        #expect(refusal(waiting: 10_000, own: 5_000, sessions: 5_000, forOthers: .zero) == nil)
    }

    /// A call of two milliseconds comes each millisecond for five seconds, each of a caller of its own.
    @Test func `at twice its capacity a server is busy all the time, and soon serves whom it serves in time`() {
        var congestion = Congestion(maximumWait: .milliseconds(250), forOthers: .milliseconds(10))
        var waiting: [Instant] = []
        var (served, refused, longest) = (0, 0, Duration.zero)
        for millisecond in 0..<5_000 {
            let now = after(.milliseconds(millisecond))
            if millisecond % 2 == 0, let first = waiting.first {
                congestion.begins()
                waiting.removeFirst()
                served += 1
                if millisecond > 1_000 { longest = max(longest, first.duration(to: now)) }
            }
            if congestion.refuses(waiting: waiting.count, own: 0, sessions: waiting.count, at: now) != nil {
                refused += 1
            } else {
                waiting.append(now)
            }
            if millisecond % 2 == 1 {
                if let next = waiting.first {
                    congestion.isNext(waitingSince: next, at: now)
                } else {
                    congestion.nobodyIsNext()
                }
            }
        }
        #expect(served > 2_490 && served + refused + waiting.count == 5_000)
        #expect(longest <= .milliseconds(14))
    }
}
