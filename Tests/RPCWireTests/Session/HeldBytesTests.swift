// What the requests of one session hold, and what the tally of all connections is told of it.

import RPCWire
import Testing

@Suite struct `Held bytes` {
    private static let later = Instant.distantFuture

    @Test func `little is told to nobody, and much at once`() {
        var calls = IncomingCalls(limit: 8)
        _ = calls.start(.integer(1), bytes: 4_095, deadline: Self.later)
        #expect(calls.held.hasUnreportedChange == false)
        _ = calls.start(.integer(2), bytes: 1, deadline: Self.later)
        #expect(calls.held.hasUnreportedChange && calls.held.tell() == 4_096 && !calls.held.hasUnreportedChange)
        _ = calls.start(.integer(3), bytes: 4_000, deadline: Self.later)
        #expect(calls.held.hasUnreportedChange == false)
        _ = calls.finish(slot: 0)
        #expect(calls.held.count == 4_001 && calls.held.hasUnreportedChange == false)
        _ = calls.finish(slot: 2)
        #expect(calls.held.count == 1 && calls.held.hasUnreportedChange == false)
    }

    @Test func `the end is told however little is left`() {
        var calls = IncomingCalls(limit: 8)
        _ = calls.start(.integer(1), bytes: 5_000, deadline: Self.later)
        #expect(calls.held.tell() == 5_000)
        _ = calls.start(.integer(2), bytes: 3, deadline: Self.later)
        _ = calls.finish(slot: 0)
        #expect(calls.held.hasUnreportedChange && calls.held.tell() == -4_997)
        _ = calls.finish(slot: 1)
        #expect(calls.held.hasUnreportedChange && calls.held.tell() == -3 && !calls.held.hasUnreportedChange)
    }

    @Test func `what batches keep is held beside the requests, and dropped once`() {
        var calls = IncomingCalls(limit: 8)
        _ = calls.start(.integer(1), bytes: 10, deadline: Self.later)
        calls.held.batchesKeep(6_000)
        calls.held.batchesKeep(-1_000)
        #expect(calls.held.count == 5_010 && calls.held.tell() == 5_010)
        for _ in 0..<2 { calls.held.dropBatches() }
        #expect(calls.held.count == 10 && calls.held.tell() == -5_000)
        _ = calls.finish(slot: 0)
        #expect(calls.held.count == 0 && calls.held.tell() == -10)
    }

    @Test func `the tally of any number of sessions is never further off than the grain of each`() {
        var dice: UInt64 = 8
        func roll(_ most: Int) -> Int {
            dice = dice &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(dice >> 33) % most
        }
        var calls = IncomingCalls(limit: 64)
        var (running, tally) = ([Int](), 0)
        for _ in 0..<10_000 {
            if running.isEmpty || roll(2) == 0 {
                if case .run(let slot) = calls.start(nil, isPost: true, bytes: roll(3_000), deadline: Self.later) {
                    running.append(slot)
                }
            } else {
                _ = calls.finish(slot: running.remove(at: roll(running.count)))
            }
            if calls.held.hasUnreportedChange { tally += calls.held.tell() }
            #expect(abs(tally - calls.held.count) < 4_096)
            if running.isEmpty { #expect(tally == 0) }
        }
    }
}
