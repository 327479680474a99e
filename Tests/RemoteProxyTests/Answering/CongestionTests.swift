// When one more caller is refused: every state of the line with every kind of arrival.

import RPCWire
import Testing

@testable import RemoteProxy

@Suite struct `The line of waiting calls` {
    private static let patience = Congestion.patience
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func after(_ duration: Duration) -> Instant { start.advanced(by: duration) }

    @Test func `nobody is refused while there is none`() {
        var congestion = Congestion(maximumWait: .milliseconds(20))
        for waiting in 0..<Congestion.alwaysAdmitted {
            for seconds in 0..<3 {
                let isRefused = congestion.refuses(waiting: waiting, first: start, at: after(.seconds(seconds)))
                #expect(!isRefused)
            }
        }
    }

    @Test func `a burst is not refused, however long it is`() {
        var congestion = Congestion(maximumWait: .milliseconds(20))
        let waits = (0..<100).map { (milliseconds: Int) in
            congestion.refuses(waiting: 1_000, first: start, at: after(.milliseconds(milliseconds)))
        }
        #expect(!waits.contains(true))
    }

    @Test func `when it has lasted, whoever comes is refused while the first has waited too long`() {
        var congestion = Congestion(maximumWait: .milliseconds(20))
        _ = congestion.refuses(waiting: 3, first: start, at: start)
        let now = after(Self.patience)
        let tooLong = congestion.refuses(waiting: 3, first: now.advanced(by: .nanoseconds(-20_000_001)), at: now)
        let notTooLong = congestion.refuses(waiting: 500, first: now.advanced(by: .milliseconds(-20)), at: now)
        let tooLongAgain = congestion.refuses(waiting: 3, first: after(.milliseconds(0)), at: now)
        #expect(tooLong && !notTooLong && tooLongAgain)
    }

    @Test func `it is over when somebody finds hardly anybody there, and the next burst is one again`() {
        var congestion = Congestion(maximumWait: .milliseconds(20))
        _ = congestion.refuses(waiting: 100, first: start, at: start)
        let unrefused = congestion.refuses(waiting: 2, first: start, at: after(.seconds(1)))
        let burst = congestion.refuses(waiting: 100, first: start, at: after(.seconds(1)))
        let late = congestion.refuses(waiting: 100, first: start, at: after(.seconds(1) + Self.patience))
        #expect(!unrefused && !burst && late)
    }

    @Test func `that a line is short because somebody was just refused does not make an overload a burst`() {
        var congestion = Congestion(maximumWait: .milliseconds(20))
        _ = congestion.refuses(waiting: 100, first: start, at: start)
        let refused = congestion.refuses(waiting: 100, first: start, at: after(.seconds(1)))
        let relieved = congestion.refuses(waiting: 2, first: start, at: after(.milliseconds(1_099)))
        let again = congestion.refuses(waiting: 3, first: start, at: after(.milliseconds(1_099)))
        let over = congestion.refuses(waiting: 2, first: start, at: after(.milliseconds(1_199)))
        let burst = congestion.refuses(waiting: 100, first: start, at: after(.milliseconds(1_200)))
        #expect(refused && !relieved && again && !over && !burst)
    }

    @Test func `without a limit nobody is refused`() {
        var congestion = Congestion(maximumWait: .zero)
        for seconds in 0..<3 {
            let isRefused = congestion.refuses(waiting: 10_000, first: start, at: after(.seconds(seconds)))
            #expect(!isRefused)
        }
    }
}
