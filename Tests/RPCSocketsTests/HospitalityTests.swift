// Whether guests are welcome at a loop, as told by those who were there.

import RPCWire
import Testing

@testable import RPCSockets

@Suite struct `Hospitality of a loop` {
    private static let start = Instant(nanoseconds: 1_000_000_000)
    private static let short: Int64 = 2_000
    /// What each earns.
    private static let earned: Int64 = 10_000

    /// One that has had answers a moment ago.
    private static var lively: Hospitality {
        var hospitality = Hospitality()
        _ = hospitality.welcomes(onlyOf: nil, at: start)
        return hospitality
    }

    private func welcomes(_ hospitality: inout Hospitality, at nanoseconds: Int64) -> Bool {
        hospitality.welcomes(onlyOf: nil, at: after(nanoseconds))
    }

    private func after(_ nanoseconds: Int64) -> Instant { Self.start.advanced(byNanoseconds: nanoseconds) }

    @Test func `callers are welcome when answers come soon after each other`() {
        var hospitality = Hospitality()
        #expect(!welcomes(&hospitality, at: 0))
        #expect(welcomes(&hospitality, at: 100_000))
        #expect(welcomes(&hospitality, at: 1_000_000))
        #expect(!welcomes(&hospitality, at: 2_000_000))
        #expect(welcomes(&hospitality, at: 2_000_001))
    }

    @Test func `guests that go at once are always welcome`() {
        var hospitality = Self.lively
        for number in 1...100_000 { hospitality.left(at: after(Int64(number) * Self.short), after: Self.short) }
        #expect(hospitality.isOpen(at: after(100_000 * Self.short)))
    }

    @Test func `guests that go together have earned together`() {
        var (one, eight) = (Self.lively, Self.lively)
        var now: Int64 = 0
        while one.isOpen(at: after(now)), now < 1_000_000_000 {
            now += Self.earned * 8
            one.left(at: after(now), after: Self.earned * 8)
            eight.left(at: after(now), after: Self.earned * 8, guests: 8)
        }
        #expect(!one.isOpen(at: after(now)))
        #expect(eight.isOpen(at: after(now)))
    }

    @Test(arguments: [1, 8]) func `one that stays for long is forgiven, and those who were with it`(guests: Int) {
        var hospitality = Self.lively
        hospitality.left(at: after(50_000_000), after: 50_000_000, guests: guests)
        #expect(hospitality.isOpen(at: after(50_000_000)))
    }

    @Test func `guests that all stay longer than they earn have the house closed`() {
        var hospitality = Self.lively
        var now: Int64 = 0
        while hospitality.isOpen(at: after(now)), now < 1_000_000_000 {
            now += Self.earned * 2
            hospitality.left(at: after(now), after: Self.earned * 2)
        }
        #expect(now == Hospitality.mostSaved * 2 + Self.earned * 2)
        #expect(!welcomes(&hospitality, at: now + Hospitality.firstClosure - 1))
        #expect(welcomes(&hospitality, at: now + Hospitality.firstClosure))
    }

    @Test func `who has been alone for some time may stay longer, but not for ever`() {
        final class Peer {}
        let (first, second) = (Peer(), Peer())
        var hospitality = Self.lively
        for _ in 0..<5 { _ = hospitality.welcomes(onlyOf: ObjectIdentifier(first), at: Self.start) }
        for _ in 0..<1_000 { hospitality.left(at: Self.start, after: Hospitality.longestAlone) }
        #expect(hospitality.isOpen(at: Self.start))
        // Another comes: neither is alone.
        for _ in 0..<10 {
            for connection in [second, first] {
                _ = hospitality.welcomes(onlyOf: ObjectIdentifier(connection), at: Self.start)
                hospitality.left(at: Self.start, after: Hospitality.longestAlone)
            }
        }
        #expect(!hospitality.isOpen(at: Self.start))

        hospitality = Self.lively
        for _ in 0..<5 { _ = hospitality.welcomes(onlyOf: ObjectIdentifier(first), at: Self.start) }
        for _ in 0..<3 { hospitality.left(at: Self.start, after: 1_000_000) }
        #expect(!hospitality.isOpen(at: Self.start))
    }

    @Test func `who has been alone for some time may call more seldom`() {
        final class Peer {}
        let (first, second) = (Peer(), Peer())
        var hospitality = Self.lively
        let welcomes = (1...8).map { number in
            hospitality.welcomes(onlyOf: ObjectIdentifier(first), at: after(Int64(number) * 9_000_000))
        }
        #expect(welcomes == [false, false, false, false, true, true, true, true])
        let welcomesOther = hospitality.welcomes(onlyOf: ObjectIdentifier(second), at: after(81_000_000))
        #expect(!welcomesOther)
    }

    @Test func `a long stay among short ones is paid in full`() {
        var hospitality = Self.lively
        for _ in 0..<4 {
            for _ in 0..<50 { hospitality.left(at: Self.start, after: Self.short) }
            hospitality.left(at: Self.start, after: 1_900_000)
        }
        #expect(!hospitality.isOpen(at: Self.start))
    }

    @Test func `it is closed for longer each time, but not for ever`() {
        var hospitality = Self.lively
        var now: Int64 = 0
        for closure in [16, 32, 64, 128, 256, 512, 1_024, 2_048, 2_048, 2_048].map({ Int64($0) * 1_000_000 }) {
            hospitality.wasAbused(at: after(now))
            #expect(!hospitality.isOpen(at: after(now + closure - 1)))
            now += closure
            #expect(hospitality.isOpen(at: after(now)))
        }
    }

    @Test func `what was is forgotten when guests have behaved for some time`() {
        var hospitality = Self.lively
        hospitality.wasAbused(at: Self.start)
        hospitality.wasAbused(at: after(Hospitality.firstClosure))
        let now = Hospitality.firstClosure * 3
        for _ in 0..<Hospitality.mostSaved / (Self.earned - Self.short) + 1 {
            hospitality.left(at: after(now), after: Self.short)
        }
        hospitality.wasAbused(at: after(now))
        #expect(hospitality.isOpen(at: after(now + Hospitality.firstClosure)))
    }

    @Test func `after it was closed the first that stays for long is not forgiven`() {
        var hospitality = Self.lively
        hospitality.wasAbused(at: Self.start)
        let now = Hospitality.firstClosure
        #expect(hospitality.isOpen(at: after(now)))
        hospitality.left(at: after(now), after: 1_000_000)
        #expect(!hospitality.isOpen(at: after(now)))
    }
}
