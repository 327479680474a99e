// When a loop spins before it sleeps: each kind of wait that it may have had, and what it does next.

import RPCWire
import Testing

@testable import RPCSockets

@Suite struct `Spinning` {
    private static let short: Int64 = 60_000
    private static let long: Int64 = 1_000_000
    /// So soon something comes where both ends are awake.
    private static let quick: Int64 = 5_000

    /// A policy that has found that spinning pays.
    private static var trusting: SpinPolicy {
        var policy = SpinPolicy()
        for _ in 0..<8 { policy.slept(nanoseconds: short) }
        return policy
    }

    @Test func `it does not spin before that is known to pay`() {
        var policy = SpinPolicy()
        #expect(!policy.isWorthwhile)
        for _ in 0..<7 { policy.slept(nanoseconds: Self.short) }
        #expect(!policy.isWorthwhile)
        policy.slept(nanoseconds: Self.short)
        #expect(policy.isWorthwhile)
    }

    @Test(arguments: [(20_000, 25_000), (45_000, 30_000), (120_000, 80_000), (600_000, 400_000)] as [(Int64, Int64)])
    func `it spins for two thirds of the sleeps that it spares`(_ sleep: Int64, _ time: Int64) {
        var policy = SpinPolicy()
        for _ in 0..<8 { policy.slept(nanoseconds: sleep) }
        #expect(policy.isWorthwhile)
        #expect(policy.time == time)
    }

    @Test func `it spins for as long as sleeps were of late`() {
        var policy = SpinPolicy()
        for sleep in [230_000, 40_000, 40_000, 40_000, 40_000, 40_000, 40_000, 40_000] as [Int64] {
            policy.slept(nanoseconds: sleep)
        }
        #expect(policy.isWorthwhile)
        #expect((60_000..<90_000).contains(policy.time))
    }

    @Test func `a sleep that was over at once tells nothing`() {
        var policy = SpinPolicy()
        for _ in 0..<8 {
            for _ in 0..<100 { policy.slept(nanoseconds: 2_000) }
            #expect(!policy.isWorthwhile)
            policy.slept(nanoseconds: 120_000)
        }
        #expect(policy.isWorthwhile)
        #expect(policy.time == 80_000)
    }

    @Test func `however slow the machine, sleeps of more than half a millisecond are slept`() {
        var policy = SpinPolicy()
        for _ in 0..<10_000 { policy.slept(nanoseconds: 600_001) }
        #expect(!policy.isWorthwhile)
    }

    @Test func `what takes longer than half a sleep is not worth looking for`() {
        for (sleep, worthIt) in [(30_000, 25_000), (120_000, 60_000)] as [(Int64, Int64)] {
            func goesOn(finding after: Int64) -> Bool {
                var policy = SpinPolicy()
                for _ in 0..<8 { policy.slept(nanoseconds: sleep) }
                for _ in 0..<100 { policy.spun(for: after, hasFound: true) }
                return policy.isWorthwhile
            }
            #expect(goesOn(finding: worthIt))
            #expect(!goesOn(finding: worthIt + 1))
        }
    }

    @Test func `two short sleeps for each long one prove nothing`() {
        var policy = SpinPolicy()
        for _ in 0..<100 {
            for _ in 0..<2 { policy.slept(nanoseconds: Self.short) }
            policy.slept(nanoseconds: Self.long)
            #expect(!policy.isWorthwhile)
        }
    }

    @Test func `a long sleep now and then takes back two short ones, and no more`() {
        var policy = SpinPolicy()
        for _ in 0..<6 { policy.slept(nanoseconds: Self.short) }
        policy.slept(nanoseconds: Self.long)
        for _ in 0..<3 { policy.slept(nanoseconds: Self.short) }
        #expect(!policy.isWorthwhile)
        policy.slept(nanoseconds: Self.short)
        #expect(policy.isWorthwhile)
    }

    @Test func `what is found goes on being looked for`() {
        var policy = Self.trusting
        for _ in 0..<1_000 { policy.spun(for: Self.quick, hasFound: true) }
        #expect(policy.isWorthwhile)
    }

    @Test func `an idle loop gives up after a few times`() {
        var policy = Self.trusting
        for _ in 0..<16 {
            #expect(policy.isWorthwhile)
            policy.spun(for: policy.time, hasFound: false)
        }
        #expect(!policy.isWorthwhile)
    }

    @Test func `one end that spins goes on until the other can have joined it`() {
        var (first, second) = (Self.trusting, SpinPolicy())
        while !second.isWorthwhile {
            #expect(first.isWorthwhile)
            first.spun(for: first.time, hasFound: false)
            second.slept(nanoseconds: Self.short)
        }
        #expect(first.isWorthwhile)
    }

    @Test func `a wait that comes to nothing every second time is slept through`() {
        var policy = Self.trusting
        for _ in 0..<32 {
            policy.spun(for: Self.quick, hasFound: true)
            policy.spun(for: policy.time, hasFound: false)
        }
        #expect(!policy.isWorthwhile)
    }

    @Test func `having found much it begins again as soon as at first`() {
        var policy = Self.trusting
        for _ in 0..<200 { policy.spun(for: Self.quick, hasFound: true) }
        for _ in 0..<16 { policy.spun(for: policy.time, hasFound: false) }
        #expect(Self.sleepsUntilItBegins(&policy) == 8)
    }

    @Test func `having found little it wants more proof each time, but ends never`() {
        var policy = Self.trusting
        var needed: [Int] = []
        for _ in 0..<10 {
            policy.spun(for: Self.quick, hasFound: true)
            for _ in 0..<16 { policy.spun(for: policy.time, hasFound: false) }
            needed.append(Self.sleepsUntilItBegins(&policy))
        }
        #expect(needed == [16, 32, 64, 128, 256, 512, 1_024, 1_024, 1_024, 1_024])
    }

    private static func sleepsUntilItBegins(_ policy: inout SpinPolicy) -> Int {
        var count = 0
        while !policy.isWorthwhile {
            policy.slept(nanoseconds: short)
            count += 1
        }
        return count
    }
}
