// When a loop looks out before it sleeps: each kind of wait that it may have had, and what it does next.

import RPCWire
import Testing

@testable import RPCSockets

@Suite struct `Looking out` {
    private static let short: Int64 = 60_000
    private static let long: Int64 = 1_000_000
    /// So soon something comes where both ends are awake.
    private static let quick: Int64 = 5_000

    /// One that has found out that looking out pays.
    private static var trusting: Lookout {
        var lookout = Lookout()
        for _ in 0..<8 { lookout.slept(nanoseconds: short) }
        return lookout
    }

    @Test func `nobody looks out before it is known to pay`() {
        var lookout = Lookout()
        #expect(!lookout.isWorthwhile)
        for _ in 0..<7 { lookout.slept(nanoseconds: Self.short) }
        #expect(!lookout.isWorthwhile)
        lookout.slept(nanoseconds: Self.short)
        #expect(lookout.isWorthwhile)
    }

    @Test(arguments: [(20_000, 25_000), (45_000, 30_000), (120_000, 80_000), (600_000, 400_000)] as [(Int64, Int64)])
    func `it looks out for two thirds of the sleeps that it spares`(_ sleep: Int64, _ time: Int64) {
        var lookout = Lookout()
        for _ in 0..<8 { lookout.slept(nanoseconds: sleep) }
        #expect(lookout.isWorthwhile)
        #expect(lookout.time == time)
    }

    @Test func `it looks out for as long as sleeps were of late`() {
        var lookout = Lookout()
        for sleep in [230_000, 40_000, 40_000, 40_000, 40_000, 40_000, 40_000, 40_000] as [Int64] {
            lookout.slept(nanoseconds: sleep)
        }
        #expect(lookout.isWorthwhile)
        #expect((60_000..<90_000).contains(lookout.time))
    }

    @Test func `a sleep that was over at once tells nothing`() {
        var lookout = Lookout()
        for _ in 0..<8 {
            for _ in 0..<100 { lookout.slept(nanoseconds: 2_000) }
            #expect(!lookout.isWorthwhile)
            lookout.slept(nanoseconds: 120_000)
        }
        #expect(lookout.isWorthwhile)
        #expect(lookout.time == 80_000)
    }

    @Test func `however slow the machine, sleeps of more than half a millisecond are slept`() {
        var lookout = Lookout()
        for _ in 0..<10_000 { lookout.slept(nanoseconds: 600_001) }
        #expect(!lookout.isWorthwhile)
    }

    @Test func `what takes longer than half a sleep is not worth looking for`() {
        for (sleep, worthIt) in [(30_000, 25_000), (120_000, 60_000)] as [(Int64, Int64)] {
            func goesOn(finding after: Int64) -> Bool {
                var lookout = Lookout()
                for _ in 0..<8 { lookout.slept(nanoseconds: sleep) }
                for _ in 0..<100 { lookout.lookedOut(for: after, hasFound: true) }
                return lookout.isWorthwhile
            }
            #expect(goesOn(finding: worthIt))
            #expect(!goesOn(finding: worthIt + 1))
        }
    }

    @Test func `two short sleeps for each long one prove nothing`() {
        var lookout = Lookout()
        for _ in 0..<100 {
            for _ in 0..<2 { lookout.slept(nanoseconds: Self.short) }
            lookout.slept(nanoseconds: Self.long)
            #expect(!lookout.isWorthwhile)
        }
    }

    @Test func `a long sleep now and then takes back two short ones, and no more`() {
        var lookout = Lookout()
        for _ in 0..<6 { lookout.slept(nanoseconds: Self.short) }
        lookout.slept(nanoseconds: Self.long)
        for _ in 0..<3 { lookout.slept(nanoseconds: Self.short) }
        #expect(!lookout.isWorthwhile)
        lookout.slept(nanoseconds: Self.short)
        #expect(lookout.isWorthwhile)
    }

    @Test func `what is found goes on being looked for`() {
        var lookout = Self.trusting
        for _ in 0..<1_000 { lookout.lookedOut(for: Self.quick, hasFound: true) }
        #expect(lookout.isWorthwhile)
    }

    @Test func `an idle loop gives up after a few times`() {
        var lookout = Self.trusting
        for _ in 0..<16 {
            #expect(lookout.isWorthwhile)
            lookout.lookedOut(for: lookout.time, hasFound: false)
        }
        #expect(!lookout.isWorthwhile)
    }

    @Test func `one end that looks out goes on until the other can have joined it`() {
        var (first, second) = (Self.trusting, Lookout())
        while !second.isWorthwhile {
            #expect(first.isWorthwhile)
            first.lookedOut(for: first.time, hasFound: false)
            second.slept(nanoseconds: Self.short)
        }
        #expect(first.isWorthwhile)
    }

    @Test func `a wait that comes to nothing every second time is slept through`() {
        var lookout = Self.trusting
        for _ in 0..<32 {
            lookout.lookedOut(for: Self.quick, hasFound: true)
            lookout.lookedOut(for: lookout.time, hasFound: false)
        }
        #expect(!lookout.isWorthwhile)
    }

    @Test func `having found much it begins again as soon as at first`() {
        var lookout = Self.trusting
        for _ in 0..<200 { lookout.lookedOut(for: Self.quick, hasFound: true) }
        for _ in 0..<16 { lookout.lookedOut(for: lookout.time, hasFound: false) }
        #expect(Self.sleepsUntilItBegins(&lookout) == 8)
    }

    @Test func `having found little it wants more proof each time, but ends never`() {
        var lookout = Self.trusting
        var needed: [Int] = []
        for _ in 0..<10 {
            lookout.lookedOut(for: Self.quick, hasFound: true)
            for _ in 0..<16 { lookout.lookedOut(for: lookout.time, hasFound: false) }
            needed.append(Self.sleepsUntilItBegins(&lookout))
        }
        #expect(needed == [16, 32, 64, 128, 256, 512, 1_024, 1_024, 1_024, 1_024])
    }

    /// For how long only the place is looked at where something has come from last, if all has come from there for so long.
    private static func neglect(after silence: Int64, _ lookout: inout Lookout) -> Int64 {
        lookout.lookedEverywhere(at: Instant(nanoseconds: 0))
        let now = Instant(nanoseconds: silence)
        lookout.lookedEverywhere(at: now)
        return (0...).first { lookout.likeliest(at: now.advanced(byNanoseconds: $0)) == nil } ?? 0
    }

    @Test func `it looks at one place where all has come from lately, and everywhere from time to time`() {
        var lookout = Self.trusting
        let longEnough = Lookout.longestNeglect * Lookout.silencePerNeglect
        for _ in 0..<8 { lookout.came(from: 7) }
        #expect(Self.neglect(after: longEnough, &lookout) == 0)
        lookout.came(from: 7)
        #expect(lookout.likeliest(at: Instant(nanoseconds: longEnough)) == 7)
        #expect(Self.neglect(after: longEnough, &lookout) == Lookout.longestNeglect)
        #expect(Self.neglect(after: longEnough * 10, &lookout) == Lookout.longestNeglect)
    }

    @Test func `who has not been heard of for some time waits for a hundredth of it for another's sake`() {
        var lookout = Self.trusting
        for _ in 0..<9 { lookout.came(from: 7) }
        #expect(Self.neglect(after: 1_000, &lookout) == 10)
        #expect(Self.neglect(after: 1_000_000, &lookout) == 10_000)
        lookout.came(from: 8)
        for _ in 0..<9 { lookout.came(from: 7) }
        let now = Instant(nanoseconds: 2_000_000)
        lookout.lookedEverywhere(at: now)
        #expect(lookout.likeliest(at: now) == nil)
    }

    @Test func `where two take turns it looks at both`() {
        var lookout = Self.trusting
        for turn in 0..<100 {
            lookout.came(from: UInt64(turn % 2))
            lookout.lookedEverywhere(at: Instant(nanoseconds: 0))
            #expect(lookout.likeliest(at: Instant(nanoseconds: 0)) == nil)
        }
    }

    private static func sleepsUntilItBegins(_ lookout: inout Lookout) -> Int {
        var count = 0
        while !lookout.isWorthwhile {
            lookout.slept(nanoseconds: short)
            count += 1
        }
        return count
    }
}
