// The pure machines of the gate, event by event.

import RPCSockets
import RPCWire
import Testing

@testable import RemoteProxy

private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

@Suite struct `PingTimer, event by event` {
    private static func machine() -> PingTimer {
        var machine = PingTimer(interval: .seconds(15), timeout: .seconds(5), at: at(0))
        machine.begin(at: at(1_000))
        return machine
    }

    @Test func `nobody is asked before it has begun, or ever when the interval is zero`() {
        var early = PingTimer(interval: .seconds(15), timeout: .seconds(5), at: at(0))
        #expect(early.due == .distantFuture && early.check(at: at(1_000_000)) == .wait)
        var off = PingTimer(interval: .zero, timeout: .seconds(5), at: at(0))
        off.begin(at: at(0))
        #expect(off.due == .distantFuture && off.check(at: at(1_000_000)) == .wait)
    }

    @Test func `silence is asked about once, and given up when nobody answers`() {
        var machine = Self.machine()
        #expect(machine.due == at(16_000))
        #expect(machine.check(at: at(15_999)) == .wait)
        #expect(machine.check(at: at(16_000)) == .ask)
        #expect(machine.due == at(21_000))
        #expect(machine.check(at: at(20_999)) == .wait)
        #expect(machine.check(at: at(21_000)) == .end(.keepaliveTimeout))
    }

    @Test(arguments: [(15_000, 5_000, 16_250), (200, 100, 225), (20, 60_000, 25)])
    func `the second to ask asks later, and gives up no later`(interval: Int64, timeout: Int64, asks: Int64) {
        var machine = PingTimer(
            interval: .milliseconds(interval), timeout: .milliseconds(timeout), isSecond: true, at: at(0))
        machine.begin(at: at(0))
        #expect(machine.due == at(asks) && machine.check(at: at(asks)) == .ask)
        #expect(
            machine.due == at(interval + timeout)
                && machine.check(at: at(interval + timeout)) == .end(.keepaliveTimeout))
    }

    @Test func `of two ends that live only the first asks`() {
        var first = PingTimer(interval: .seconds(15), timeout: .seconds(5), at: at(0))
        var second = PingTimer(interval: .seconds(15), timeout: .seconds(5), isSecond: true, at: at(0))
        first.begin(at: at(0))
        second.begin(at: at(0))
        var asked = 0
        for millisecond in stride(from: Int64(0), through: 300_000, by: 250) {
            if first.check(at: at(millisecond)) == .ask {
                asked += 1
                second.heardPeer(at: at(millisecond))
                first.heardPeer(at: at(millisecond + 1))
            }
            let action = second.check(at: at(millisecond))
            #expect(action == .wait)
        }
        #expect(asked == 19)
    }

    @Test func `a wish of the other end puts pings off, never forward`() {
        for (wanted, asks) in [
            (Duration?.none, Int64(15_000)), (.seconds(1), 15_000), (.seconds(15), 16_250), (.seconds(60), 61_250),
            (.seconds(2), 15_000),
        ] {
            var machine = PingTimer(interval: .seconds(15), timeout: .seconds(5), at: at(0))
            machine.begin(at: at(0), wanted: wanted)
            #expect(machine.due == at(asks))
            #expect(machine.check(at: at(asks)) == .ask && machine.due == at(asks + 5_000))
        }
        var never = PingTimer(interval: .seconds(15), timeout: .seconds(5), at: at(0))
        never.begin(at: at(0), wanted: .zero)
        #expect(never.due == .distantFuture && never.check(at: at(1_000_000)) == .wait)
        var off = PingTimer(interval: .zero, timeout: .seconds(5), at: at(0))
        off.begin(at: at(0), wanted: .seconds(1))
        #expect(off.due == .distantFuture && off.check(at: at(1_000_000)) == .wait)
        var longest = PingTimer(interval: .seconds(15), timeout: .seconds(5), at: at(0))
        longest.begin(at: at(0), wanted: .milliseconds(Int64.max))
        #expect(longest.check(at: at(1_000_000)) == .wait)
    }

    @Test func `a probe asks when there was silence, once, and leaves half of the time`() {
        var machine = Self.machine()
        #expect(machine.probe(at: at(15_999)) == .heard && machine.due == at(16_000))
        #expect(machine.probe(at: at(16_000)) == .ask && machine.due == at(18_500))
        #expect(machine.probe(at: at(17_000)) == .asked && machine.due == at(18_500))
        #expect(machine.check(at: at(18_499)) == .wait && machine.check(at: at(18_500)) == .end(.keepaliveTimeout))
        machine.heardPeer(at: at(18_500))
        #expect(machine.probe(at: at(18_500)) == .heard && machine.due == at(33_500))
    }

    @Test func `a probe shortens the wait for another answer, and asks again after a standstill`() {
        var early = Self.machine()
        #expect(early.check(at: at(16_000)) == .ask && early.due == at(21_000))
        #expect(early.probe(at: at(17_000)) == .asked && early.due == at(19_500))
        var late = Self.machine()
        #expect(late.check(at: at(16_000)) == .ask)
        #expect(late.probe(at: at(20_000)) == .asked && late.due == at(21_000))
        #expect(late.probe(at: at(21_000)) == .ask && late.due == at(23_500))
    }

    @Test func `an end that never asks probes after as long a silence as an answer may take`() {
        var machine = PingTimer(interval: .zero, timeout: .seconds(5), at: at(0))
        machine.begin(at: at(0))
        #expect(machine.probe(at: at(4_999)) == .heard && machine.due == .distantFuture)
        #expect(machine.probe(at: at(5_000)) == .ask && machine.due == at(7_500))
        #expect(machine.check(at: at(7_500)) == .end(.keepaliveTimeout))
        machine.heardPeer(at: at(7_500))
        #expect(machine.due == .distantFuture)
    }

    @Test func `who waits for ever asks never`() {
        var machine = PingTimer(interval: .seconds(Int64.max), timeout: .seconds(Int64.max), isSecond: true, at: at(0))
        machine.begin(at: at(0))
        #expect(machine.check(at: at(1_000_000)) == .wait)
    }

    @Test func `whatever is heard is an answer`() {
        var machine = Self.machine()
        #expect(machine.check(at: at(16_000)) == .ask)
        #expect(machine.heardPeer(at: at(20_999)) == true)
        #expect(machine.heardPeer(at: at(20_999)) == false)
        #expect(machine.due == at(35_999))
        #expect(machine.check(at: at(21_000)) == .wait)
        #expect(machine.check(at: at(35_999)) == .ask)
    }

    @Test func `who talks is never asked`() {
        var machine = Self.machine()
        for second in Int64(1)...100 {
            machine.heardPeer(at: at(second * 10_000))
            #expect(machine.check(at: at(second * 10_000 + 9_999)) == .wait)
        }
    }

    @Test func `a check that comes far too late asks again and accuses nobody`() {
        var machine = Self.machine()
        #expect(machine.check(at: at(500_000)) == .ask)
        #expect(machine.check(at: at(600_000)) == .ask)
        #expect(machine.check(at: at(605_000)) == .end(.keepaliveTimeout))
    }
}

@Suite struct `FrameTimeout, event by event` {
    private static let limits = {
        var limits = Limits()
        (limits.firstByteTime, limits.frameTime, limits.minimumRate) = (.seconds(10), .seconds(30), 1_000)
        return limits
    }()

    private static func machine() -> FrameTimeout { FrameTimeout(awaitsFirstByte: true, at: at(0)) }

    private static func inside(_ bytes: Int) -> FrameTimeout {
        var machine = machine()
        machine.looked(frames: 0, isInside: true, isTold: true, at: at(1_000))
        machine.received(bytes)
        machine.looked(frames: 0, isInside: true, isTold: true, at: at(2_000))
        return machine
    }

    @Test func `who says nothing has its time, and blank lines say nothing`() {
        var machine = Self.machine()
        #expect(machine.due(Self.limits) == at(10_000) && machine.overrun(Self.limits, at: at(9_999)) == nil)
        machine.received(100)
        machine.looked(frames: 0, isInside: false, isTold: false, at: at(5_000))
        #expect(machine.overrun(Self.limits, at: at(10_000)) == .firstByteTime)
        machine.looked(frames: 1, isInside: false, isTold: true, at: at(6_000))
        #expect(machine.due(Self.limits) == .distantFuture && machine.overrun(Self.limits, at: at(1_000_000)) == nil)
    }

    @Test(arguments: [(0, 31_000, Limit.frameTime), (999, 31_999, .frameTime), (60_000, 91_000, .frameTime)])
    func `a frame has its time, and a second more for each so many bytes`(bytes: Int, end: Int64, limit: Limit) {
        let machine = Self.inside(bytes)
        #expect(machine.due(Self.limits) == at(end))
        #expect(machine.overrun(Self.limits, at: at(end - 1)) == nil)
        #expect(machine.overrun(Self.limits, at: at(end)) == limit)
    }

    @Test func `the next frame has a time of its own`() {
        var machine = Self.inside(5_000)
        machine.looked(frames: 1, isInside: true, isTold: true, at: at(20_000))
        #expect(machine.due(Self.limits) == at(50_000))
        machine.looked(frames: 2, isInside: false, isTold: true, at: at(21_000))
        #expect(machine.isAtRest && machine.due(Self.limits) == .distantFuture)
    }

    @Test func `time in which nobody was read does not count`() {
        var machine = Self.inside(0)
        machine.excuse(at: at(31_000))
        #expect(machine.due(Self.limits) == at(61_000))
        var silent = Self.machine()
        silent.excuse(at: at(9_000))
        #expect(silent.due(Self.limits) == at(19_000))
    }

    @Test func `no times are no limits`() {
        var limits = Limits()
        (limits.firstByteTime, limits.frameTime, limits.minimumRate) = (.zero, .zero, 0)
        var machine = FrameTimeout(awaitsFirstByte: false, at: at(0))
        #expect(machine.due(limits) == .distantFuture)
        machine.looked(frames: 0, isInside: true, isTold: true, at: at(0))
        #expect(machine.due(limits) == .distantFuture && machine.overrun(limits, at: at(1_000_000_000)) == nil)
    }
}

@Suite struct `Login, event by event` {
    private static let tokens = try? TokenList(
        parsing: "alice 0123456789abcdef\nalice fedcba9876543210\nbob 0123456789fedcba")
    private static let alice = tokens?.entry(for: "0123456789abcdef")
    private static let aliceAgain = tokens?.entry(for: "fedcba9876543210")
    private static let bob = tokens?.entry(for: "0123456789fedcba")

    private static func machine(needsProof: Bool = true) -> Login {
        Login(needsProof: needsProof)
    }

    @Test func `without tokens nobody is kept out and nothing is counted`() {
        var machine = Self.machine(needsProof: false)
        #expect(!machine.isLocked && machine.identity == nil)
        let isFree = (machine.received(.max, of: 100), machine.answers(.max, of: 10))
        #expect(isFree == (true, true))
    }

    @Test func `a token lets its owner in`() {
        var machine = Self.machine()
        #expect(machine.isLocked)
        #expect(machine.show(Self.alice) == true)
        #expect(!machine.isLocked && machine.identity == Self.alice?.identity)
        let isFree = (machine.received(.max, of: 100), machine.answers(.max, of: 10))
        #expect(isFree == (true, true))
    }

    @Test func `nobody's token lets nobody in`() {
        var machine = Self.machine()
        #expect(machine.show(nil) == false)
        #expect(machine.isLocked && machine.identity == nil)
    }

    @Test func `who is in may show the same again and becomes nobody else`() {
        var machine = Self.machine()
        #expect(machine.show(Self.alice) == true && machine.entry == Self.alice)
        #expect(machine.show(Self.aliceAgain) == true && machine.entry == Self.aliceAgain)
        #expect(machine.show(Self.bob) == false && machine.entry == Self.aliceAgain)
        #expect(machine.show(nil) == false)
        #expect(machine.identity == Self.alice?.identity)
    }

    @Test func `who is known to the system is in, and may be more by a token`() {
        var machine = Self.machine()
        machine.prove(.user(7), nil)
        #expect(!machine.isLocked && machine.identity?.name == "uid:7")
        #expect(machine.show(Self.bob) == true)
        #expect(machine.identity == Self.bob?.identity)
    }

    @Test func `before that, bytes are counted in both directions to the last one allowed`() {
        var machine = Self.machine()
        let input = [60, 40, 1, 0].map { machine.received($0, of: 100) }
        let output = [10, 1].map { machine.answers($0, of: 10) }
        #expect(input == [true, true, false, false] && output == [true, false])
        var flooded = Self.machine()
        let flood = [Int.max, .max].map { flooded.received($0, of: 100) }
        #expect(flood == [false, false])
    }
}

@Suite struct `Rates and counts` {
    @Test func `so many in a while, and as many again in the next`() {
        var rate = RateLimit()
        #expect(rate.windowEnd == nil)
        let first = [0, 1, 2, 9_999].map { rate.admits(2, per: .seconds(10), at: at($0)) }
        #expect(first == [true, true, false, false])
        #expect(rate.windowEnd == at(10_000))
        let later = [10_000, 30_000, 30_001, 30_002].map { rate.admits(2, per: .seconds(10), at: at($0)) }
        #expect(later == [true, true, true, false])
    }

    @Test func `a cancellation for each request that has ended is no flood`() {
        var settings = LinkSettings()
        settings.limits.maximumUnknownCancels = 2
        var gate = Gate(Shared(settings), isAccepted: true, at: at(0))
        for _ in 0..<3 { gate.requestEnded() }
        let cancels = (0..<6).map { _ in gate.admitsUnknownCancel(at: at(0)) }
        #expect(cancels == [true, true, true, true, true, false])
    }

    @Test func `requests are counted by loop and limited in all`() throws {
        let traffic = Traffic(loops: 2, maximumRequests: 3)
        let (first, second) = (try #require(traffic.tally(of: 0)), try #require(traffic.tally(of: 1)))
        for _ in 0..<3 { first.runs(1) }
        #expect(traffic.overrun(on: first) == .maximumRequestsInAll)
        // The other loop has not had its share, and may go one over rather than look at its neighbours each time.
        #expect(traffic.overrun(on: second) == nil)
        second.runs(1)
        #expect(traffic.overrun(on: second) == .maximumRequestsInAll && traffic.running == 4)
        first.runs(-2)
        #expect(
            [first, second].allSatisfy { traffic.overrun(on: $0) == nil } && traffic.running == 2)
        #expect(traffic.tally(of: 2) == nil && traffic.tally(of: -1) == nil)
    }

    @Test func `bytes are counted for all and for each session, and the largest debtors pay when they are used up`()
        throws
    {
        let traffic = Traffic(loops: 2, maximumRequests: 3, maximumBytes: 10_000)
        let asked = Lock(0)
        traffic.whenFull { asked.withLock { $0 += 1 } }
        let tally = try #require(traffic.tally(of: 0))
        let one = SessionAccount(traffic, mostKept: 100)
        let other = SessionAccount(traffic, mostKept: 100)
        one.owes(5_999)
        other.owes(4_000)
        var areOverdrawn = [one.isOverdrawn, other.isOverdrawn]
        #expect(areOverdrawn == [false, false])
        #expect(traffic.overrun(on: tally) == nil && asked.withLock { $0 } == 0)
        other.owes(1)
        #expect(traffic.overrun(on: tally) == .maximumBytesInAll && traffic.bytes == 10_000)
        // One session owes more than its share, the other does not.
        areOverdrawn = [one.isOverdrawn, other.isOverdrawn]
        #expect(areOverdrawn == [true, false])
        one.owes(1)
        #expect(asked.withLock { $0 } == 1, "not again while the first relief goes on")
        traffic.reliefIsOver()
        one.owes(1)
        #expect(asked.withLock { $0 } == 2)
        one.owes(-6_001)
        #expect(traffic.overrun(on: tally) == nil && traffic.bytes == 4_001)
        other.waits(10)
        let debts = [one.bytes, other.bytes]
        #expect(debts == [0, 4_011] && traffic.bytes == 4_001, "a request that waits is counted already")
    }

    @Test func `each limit is counted under its name`() throws {
        let traffic = Traffic(loops: 1, maximumRequests: 1)
        let tally = try #require(traffic.tally(of: 0))
        tally.wasBusy(.maximumRequestsInAll)
        tally.wasBusy(.maximumRequestsInFlight)
        for limit in [Limit.maximumRequestsInFlight, .maximumBytesInFlight, .maximumBytesInAll] { tally.wasBusy(limit) }
        traffic.overran(.frameTime)
        #expect(
            traffic.rareEvents.overruns == [
                .maximumRequestsInAll: 1, .maximumRequestsInFlight: 2, .maximumBytesInFlight: 1, .maximumBytesInAll: 1,
                .frameTime: 1,
            ])
    }

    @Test func `due moments are put off to common ones, by little`() {
        var settings = LinkSettings()
        settings.limits.loginTime = .zero
        settings.limits.firstByteTime = .seconds(16)
        settings.limits.keepalive.timeout = .seconds(16)
        settings.limits.frameTime = .seconds(16)
        let due = (0..<1_000).map { Gate(Shared(settings), isAccepted: true, at: at($0 * 10)).due }
        // Ten seconds' worth of connections come up in eleven moments, none early, none a second late.
        #expect(Set(due).count == 11)
        for (index, due) in due.enumerated() {
            let exact = at(Int64(index) * 10 + 16_000)
            #expect(due >= exact && exact.duration(to: due) < .seconds(1))
        }
    }
}
