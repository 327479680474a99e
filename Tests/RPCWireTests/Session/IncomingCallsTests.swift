// Every (state, event) pair of a call being run for the peer: running, stopping and returned.

import RPCWire
import Testing

@Suite struct `Incoming calls` {
    private static let later = Instant(nanoseconds: 1_000)
    private static let id = RPCIdentifier.string("seven")

    enum Situation: CaseIterable { case running, stopping, returned }

    private func table(_ situation: Situation, limit: Int = 2) -> IncomingCalls {
        var calls = IncomingCalls(limit: limit)
        _ = calls.start(Self.id, deadline: Self.later)
        if situation == .stopping { _ = calls.cancel(Self.id) }
        if situation == .returned { _ = calls.finish(slot: 0) }
        return calls
    }

    @Test(arguments: Situation.allCases)
    func `only a running call can be cancelled, and it keeps its place`(_ situation: Situation) {
        var calls = table(situation)
        #expect(calls.cancel(Self.id) == (situation == .running ? 0 : nil))
        #expect(calls.count == (situation == .returned ? 0 : 1))
        #expect(calls.isStopping(slot: 0) == (situation != .returned))
    }

    @Test(arguments: Situation.allCases)
    func `a call that returns says why it had been stopped`(_ situation: Situation) {
        var calls = table(situation)
        #expect(calls.finish(slot: 0) == (situation == .stopping ? .cancelled : nil))
        #expect(calls.count == 0)
    }

    @Test(arguments: Situation.allCases)
    func `who runs a call is known from when it begins until it returns`(_ situation: Situation) {
        final class Runner {}
        let runner = Runner()
        var calls = table(situation)
        #expect(calls.runner(of: 0) == nil)
        #expect(calls.runner(of: 1) == nil)
        guard situation != .returned else {
            let isToRun = calls.begin(slot: 0, by: .passUnretained(runner))
            #expect(!isToRun)
            #expect(calls.runner(of: 0) == nil)
            return
        }
        let isToRun = calls.begin(slot: 0, by: .passUnretained(runner))
        #expect(isToRun == (situation == .running))
        #expect(calls.runner(of: 0)?.toOpaque() == Unmanaged.passUnretained(runner).toOpaque())
        _ = calls.finish(slot: 0)
        #expect(calls.runner(of: 0) == nil)
        // The next one in its place has not begun.
        _ = calls.start(.integer(2), deadline: .distantFuture)
        #expect(calls.runner(of: 0) == nil)
    }

    @Test(arguments: Situation.allCases)
    func `a deadline stops a running call once`(_ situation: Situation) {
        var calls = table(situation)
        #expect(calls.nextDeadline == (situation == .running ? Self.later : nil))
        #expect(calls.expire(at: Instant(nanoseconds: 999)).isEmpty)
        #expect(calls.expire(at: Self.later) == (situation == .running ? [0] : []))
        #expect(calls.expire(at: Self.later).isEmpty)
        if situation == .running { #expect(calls.finish(slot: 0) == .deadline) }
    }

    @Test(arguments: Situation.allCases)
    func `the end of the session stops what runs`(_ situation: Situation) {
        var calls = table(situation)
        #expect(calls.sessionEnded() == (situation == .running ? [0] : []))
        #expect(calls.sessionEnded().isEmpty)
    }

    @Test(arguments: Situation.allCases)
    func `draining begins no call and is done when all have returned`(_ situation: Situation) {
        var calls = table(situation)
        calls.drain()
        #expect(calls.start(.integer(9), deadline: .distantFuture) == .draining)
        #expect(calls.isDrained == (situation == .returned))
        _ = calls.finish(slot: 0)
        #expect(calls.isDrained == true)
    }

    @Test func `a cancelled call counts until its subject has returned`() {
        var calls = table(.stopping, limit: 1)
        #expect(calls.start(.integer(8), deadline: .distantFuture) == .busy(.maximumRequestsInFlight, most: 1))
        _ = calls.finish(slot: 0)
        #expect(calls.start(.integer(8), deadline: .distantFuture) == .run(slot: 0))
    }

    @Test func `a post has a place but no name to cancel it by`() {
        var calls = IncomingCalls(limit: 1)
        #expect(calls.start(nil, deadline: .distantFuture) == .run(slot: 0))
        #expect(calls.cancel(.null) == nil)
    }

    @Test func `a post that was on its way when this end began to finish is still run`() {
        var calls = IncomingCalls(limit: 1)
        calls.drain()
        #expect(calls.start(nil, deadline: .distantFuture) == .draining)
        #expect(calls.start(nil, isPost: true, deadline: .distantFuture) == .run(slot: 0))
        #expect(calls.isDrained == false)
        _ = calls.finish(slot: 0)
        #expect(calls.isDrained == true)
    }

    @Test func `a full table takes posts and no calls`() {
        var calls = table(.running, limit: 1)
        #expect(calls.start(nil, isPost: true, deadline: .distantFuture) == .run(slot: 1))
        #expect(calls.start(nil, isPost: true, deadline: .distantFuture) == .run(slot: 2))
        // A call that is sent like a post is still one, and those before it do not have to have run.
        #expect(calls.start(nil, deadline: .distantFuture) == .busy(.maximumRequestsInFlight, most: 1))
        #expect(calls.start(.integer(8), deadline: .distantFuture) == .busy(.maximumRequestsInFlight, most: 1))
        _ = calls.finish(slot: 1)
        #expect(calls.start(.integer(8), deadline: .distantFuture) == .busy(.maximumRequestsInFlight, most: 1))
        // Posts take no place of a call.
        _ = calls.finish(slot: 0)
        #expect(calls.start(.integer(8), deadline: .distantFuture) == .run(slot: 0))
        #expect(calls.start(.integer(9), deadline: .distantFuture) == .busy(.maximumRequestsInFlight, most: 1))
    }

    @Test func `a call of any length begins while there is room, and no other until it has returned`() {
        var calls = IncomingCalls(limit: 8, byteLimit: 100)
        let later = Instant.distantFuture
        #expect(calls.start(.integer(1), bytes: 99, deadline: later) == .run(slot: 0))
        #expect(calls.isFull == false)
        #expect(calls.start(.integer(2), bytes: 1_000_000, deadline: later) == .run(slot: 1))
        #expect(calls.isFull == true)
        #expect(calls.held.count == 1_000_099)
        #expect(calls.start(.integer(3), deadline: later) == .busy(.maximumBytesInFlight, most: 100))
        // Nobody could be told that a post was refused.
        #expect(calls.start(nil, isPost: true, bytes: 7, deadline: later) == .run(slot: 2))
        // Neither a cancelled call nor the end of the session gives anything back before the subject does, and it does once.
        #expect(calls.cancel(.integer(2)) == 1)
        #expect(calls.sessionEnded() == [0, 2])
        #expect(calls.start(.integer(3), deadline: later) == .busy(.maximumBytesInFlight, most: 100))
        for _ in 0..<2 { _ = calls.finish(slot: 1) }
        #expect(calls.held.count == 106)
        _ = calls.finish(slot: 0)
        #expect(calls.held.count == 7)
        #expect(calls.isFull == false)
        calls.held.batchesKeep(93)
        #expect(calls.start(.integer(3), deadline: later) == .busy(.maximumBytesInFlight, most: 100))
        calls.held.dropBatches()
        _ = calls.finish(slot: 2)
        #expect(calls.held.count == 0)
    }

    @Test func `when the peer leaves its calls stop and its posts go on`() {
        var calls = table(.running)
        #expect(calls.start(nil, deadline: .distantFuture) == .run(slot: 1))
        #expect(calls.peerLeft() == [0])
        #expect(calls.isStopping(slot: 1) == false)
        #expect(calls.peerLeft().isEmpty)
    }

    @Test func `slots beyond the table are nobody`() {
        var calls = IncomingCalls(limit: 1)
        #expect(calls.finish(slot: 3) == nil)
        #expect(calls.isStopping(slot: -1) == false)
        #expect(calls.count == 0)
    }
}
