// Whether a loop hosts jobs of the pool, as told by how long they have stayed.

import RPCWire
import Testing

@testable import RPCSockets

@Suite struct `Jobs of the pool on a loop` {
    private static let start = Instant(nanoseconds: 1_000_000_000)
    private static let short: Int64 = 2_000
    /// What each earns.
    private static let earned: Int64 = 10_000

    /// One that has had answers a moment ago.
    private static var lively: PoolCallerPolicy {
        var policy = PoolCallerPolicy()
        _ = policy.admits(onlyOf: nil, at: start)
        return policy
    }

    private func admits(_ policy: inout PoolCallerPolicy, at nanoseconds: Int64) -> Bool {
        policy.admits(onlyOf: nil, at: after(nanoseconds))
    }

    private func after(_ nanoseconds: Int64) -> Instant { Self.start.advanced(byNanoseconds: nanoseconds) }

    @Test func `callers are hosted when answers come soon after each other`() {
        var policy = PoolCallerPolicy()
        #expect(!admits(&policy, at: 0))
        #expect(admits(&policy, at: 100_000))
        #expect(admits(&policy, at: 1_000_000))
        #expect(!admits(&policy, at: 2_000_000))
        #expect(admits(&policy, at: 2_000_001))
    }

    @Test func `jobs that go at once are always hosted`() {
        var policy = Self.lively
        for number in 1...100_000 { policy.left(at: after(Int64(number) * Self.short), after: Self.short) }
        #expect(policy.isHosting(at: after(100_000 * Self.short)))
    }

    @Test func `jobs that go together have earned together`() {
        var (one, eight) = (Self.lively, Self.lively)
        var now: Int64 = 0
        while one.isHosting(at: after(now)), now < 1_000_000_000 {
            now += Self.earned * 8
            one.left(at: after(now), after: Self.earned * 8)
            eight.left(at: after(now), after: Self.earned * 8, jobs: 8)
        }
        #expect(!one.isHosting(at: after(now)))
        #expect(eight.isHosting(at: after(now)))
    }

    @Test(arguments: [1, 8]) func `one that stays for long is forgiven, and those who were with it`(jobs: Int) {
        var policy = Self.lively
        policy.left(at: after(50_000_000), after: 50_000_000, jobs: jobs)
        #expect(policy.isHosting(at: after(50_000_000)))
    }

    @Test func `jobs that all stay longer than they earn are hosted no more`() {
        var policy = Self.lively
        var now: Int64 = 0
        while policy.isHosting(at: after(now)), now < 1_000_000_000 {
            now += Self.earned * 2
            policy.left(at: after(now), after: Self.earned * 2)
        }
        #expect(now == PoolCallerPolicy.mostSaved * 2 + Self.earned * 2)
        #expect(!admits(&policy, at: now + PoolCallerPolicy.firstPause - 1))
        #expect(admits(&policy, at: now + PoolCallerPolicy.firstPause))
    }

    @Test func `who has been alone for some time may stay longer, but not for ever`() {
        final class Peer {}
        let (first, second) = (Peer(), Peer())
        var policy = Self.lively
        for _ in 0..<5 { _ = policy.admits(onlyOf: ObjectIdentifier(first), at: Self.start) }
        for _ in 0..<1_000 { policy.left(at: Self.start, after: PoolCallerPolicy.longestAlone) }
        #expect(policy.isHosting(at: Self.start))
        // Another comes: neither is alone.
        for _ in 0..<10 {
            for connection in [second, first] {
                _ = policy.admits(onlyOf: ObjectIdentifier(connection), at: Self.start)
                policy.left(at: Self.start, after: PoolCallerPolicy.longestAlone)
            }
        }
        #expect(!policy.isHosting(at: Self.start))

        policy = Self.lively
        for _ in 0..<5 { _ = policy.admits(onlyOf: ObjectIdentifier(first), at: Self.start) }
        for _ in 0..<3 { policy.left(at: Self.start, after: 1_000_000) }
        #expect(!policy.isHosting(at: Self.start))
    }

    @Test func `who has been alone for some time may call more seldom`() {
        final class Peer {}
        let (first, second) = (Peer(), Peer())
        var policy = Self.lively
        let admitted = (1...8).map { number in
            policy.admits(onlyOf: ObjectIdentifier(first), at: after(Int64(number) * 9_000_000))
        }
        #expect(admitted == [false, false, false, false, true, true, true, true])
        let admitsOther = policy.admits(onlyOf: ObjectIdentifier(second), at: after(81_000_000))
        #expect(!admitsOther)
    }

    @Test func `a long stay among short ones is paid in full`() {
        var policy = Self.lively
        for _ in 0..<4 {
            for _ in 0..<50 { policy.left(at: Self.start, after: Self.short) }
            policy.left(at: Self.start, after: 1_900_000)
        }
        #expect(!policy.isHosting(at: Self.start))
    }

    @Test func `it pauses for longer each time, but not for ever`() {
        var policy = Self.lively
        var now: Int64 = 0
        for closure in [16, 32, 64, 128, 256, 512, 1_024, 2_048, 2_048, 2_048].map({ Int64($0) * 1_000_000 }) {
            policy.lostThread(at: after(now))
            #expect(!policy.isHosting(at: after(now + closure - 1)))
            now += closure
            #expect(policy.isHosting(at: after(now)))
        }
    }

    @Test func `pauses are short again when jobs have gone at once for some time`() {
        var policy = Self.lively
        policy.lostThread(at: Self.start)
        policy.lostThread(at: after(PoolCallerPolicy.firstPause))
        let now = PoolCallerPolicy.firstPause * 3
        for _ in 0..<PoolCallerPolicy.mostSaved / (Self.earned - Self.short) + 1 {
            policy.left(at: after(now), after: Self.short)
        }
        policy.lostThread(at: after(now))
        #expect(policy.isHosting(at: after(now + PoolCallerPolicy.firstPause)))
    }

    @Test func `after a pause the first that stays for long is not forgiven`() {
        var policy = Self.lively
        policy.lostThread(at: Self.start)
        let now = PoolCallerPolicy.firstPause
        #expect(policy.isHosting(at: after(now)))
        policy.left(at: after(now), after: 1_000_000)
        #expect(!policy.isHosting(at: after(now)))
    }
}
