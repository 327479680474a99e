// What becomes of the callers of a server of one's own making, of one thread, which gets twice as many calls as it can serve:
// millisecond by millisecond.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A server with too much to do` {
    private let start = Instant(nanoseconds: 1_000_000_000)

    private func after(_ duration: Duration) -> Instant { start.advanced(by: duration) }

    /// Each call takes it two milliseconds, and comes from a session of its own.
    private struct Server {
        private var overload = Overload(maximumWait: .milliseconds(250))
        private var waiting: [Instant] = []
        private var left = 0
        private(set) var served = 0
        private(set) var refused = 0
        private(set) var longest = Duration.zero

        mutating func forget() { (served, refused, longest) = (0, 0, .zero) }

        mutating func come(at now: Instant) {
            let line = waiting.first.map {
                Overload.Line(oldest: $0, waiting: waiting.count, own: 0, sessions: waiting.count)
            }
            if let line, overload.refuses(line, at: now) { refused += 1 } else { waiting.append(now) }
        }

        /// Answers whether a call ends.
        mutating func work(until now: Instant) -> Bool {
            let hasEnded = left == 1
            if left > 0 { left -= 1 }
            if hasEnded {
                served += 1
                if let next = waiting.first {
                    overload.begins(waitingSince: next, isShared: waiting.count > 1, at: now)
                } else {
                    overload.lineIsEmpty()
                }
            }
            if left == 0, !waiting.isEmpty {
                longest = max(longest, waiting.removeFirst().duration(to: now))
                left = 2
            }
            return hasEnded
        }
    }

    /// So many milliseconds in which calls come as `comes` says.
    private func run(_ server: inout Server, _ time: Range<Int>, comes: (Int) -> Bool) {
        for millisecond in time {
            let now = after(.milliseconds(millisecond))
            if comes(millisecond) { server.come(at: now) }
            _ = server.work(until: now)
        }
    }

    @Test func `at twice its capacity a server is busy all the time, and soon serves in time what it serves`() {
        var server = Server()
        run(&server, 0..<2_000) { _ in true }
        #expect(server.refused > 0 && server.longest <= .milliseconds(650))
        server.forget()
        run(&server, 2_000..<7_000) { _ in true }
        #expect(server.served == 2_500 && abs(server.refused - 2_500) < 10)
        #expect(server.longest <= .milliseconds(12))
    }

    @Test func `a burst is served whole, whatever little comes meanwhile`() {
        var server = Server()
        for _ in 0..<100 { server.come(at: start) }
        run(&server, 0..<1_000) { $0 % 4 == 0 }
        #expect(server.refused == 0 && server.served > 340)
    }

    @Test func `when less comes again, however unevenly, nobody is refused any more`() {
        var server = Server()
        var random = SeededGenerator(seed: 1)
        run(&server, 0..<2_000) { _ in true }
        run(&server, 2_000..<3_000) { _ in Int.random(in: 0..<10, using: &random) < 4 }
        server.forget()
        run(&server, 3_000..<13_000) { _ in Int.random(in: 0..<10, using: &random) < 4 }
        #expect(server.refused == 0 && server.served > 3_800)
    }

    /// Each comes again when it is answered, or a tenth of a second after it was refused.
    @Test(arguments: [1, 4, 8])
    func `callers who come one after the other and each wait for their answer are served`(every pause: Int) {
        var server = Server()
        var again: [Int] = []
        for millisecond in 0..<5_000 {
            let now = after(.milliseconds(millisecond))
            if millisecond % pause == 0, millisecond / pause < 60 { again.append(millisecond) }
            let coming = again.count { $0 <= millisecond }
            again.removeAll { $0 <= millisecond }
            for _ in 0..<coming {
                let refused = server.refused
                server.come(at: now)
                if server.refused > refused { again.append(millisecond + 100) }
            }
            if server.work(until: now) { again.append(millisecond + 1) }
        }
        #expect(server.refused == 0 && server.served > 2_400)
    }

    @Test func `callers who each wait for their answer are served, though there is always somebody waiting`() {
        var server = Server()
        for _ in 0..<100 { server.come(at: start) }
        for millisecond in 0..<5_000 {
            let now = after(.milliseconds(millisecond))
            if server.work(until: now) { server.come(at: now) }
        }
        #expect(server.refused == 0 && server.served > 2_490)
        #expect(server.longest <= .milliseconds(200))
    }
}
