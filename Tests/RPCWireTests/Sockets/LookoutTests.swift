// When a loop looks out before it sleeps: each kind of wait that it may have had, and what it does next.

import Testing

@testable import RPCWire

@Suite struct `Looking out` {
    private static let short = Duration.microseconds(60)
    private static let long = Duration.milliseconds(1)

    /// One that has found out that looking out pays.
    private static var trusting: Lookout {
        var lookout = Lookout()
        for _ in 0..<8 { lookout.slept(short) }
        return lookout
    }

    @Test func `nobody looks out before it is known to pay`() {
        var lookout = Lookout()
        #expect(!lookout.isWorthwhile)
        for _ in 0..<7 { lookout.slept(Self.short) }
        #expect(!lookout.isWorthwhile)
        lookout.slept(Self.short)
        #expect(lookout.isWorthwhile)
    }

    @Test func `short sleeps between long ones prove nothing`() {
        var lookout = Lookout()
        for _ in 0..<100 {
            for _ in 0..<7 { lookout.slept(Self.short) }
            lookout.slept(Self.long)
            #expect(!lookout.isWorthwhile)
        }
    }

    @Test func `what is found goes on being looked for`() {
        var lookout = Self.trusting
        for _ in 0..<1_000 { lookout.lookedOut(hasFound: true) }
        #expect(lookout.isWorthwhile)
    }

    @Test func `an idle loop gives up after a few times`() {
        var lookout = Self.trusting
        for _ in 0..<4 {
            #expect(lookout.isWorthwhile)
            lookout.lookedOut(hasFound: false)
        }
        #expect(!lookout.isWorthwhile)
    }

    @Test func `a wait that comes to nothing every second time is slept through`() {
        var lookout = Self.trusting
        for _ in 0..<8 {
            lookout.lookedOut(hasFound: true)
            lookout.lookedOut(hasFound: false)
        }
        #expect(!lookout.isWorthwhile)
    }

    @Test func `having given up it begins again when sleeps are short`() {
        var lookout = Self.trusting
        for _ in 0..<4 { lookout.lookedOut(hasFound: false) }
        for _ in 0..<8 { lookout.slept(Self.short) }
        #expect(lookout.isWorthwhile)
    }
}
