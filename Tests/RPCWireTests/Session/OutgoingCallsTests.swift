// Every (state, event) pair of a call on its way out: waiting, sent, interrupted and gone, against each way to end.

import Testing

@testable import RPCWire

extension CallHandle {
    fileprivate static let other = CallHandle(word: 1)
    fileprivate static let it = CallHandle(word: 2)
    fileprivate static let old = CallHandle(word: 3)
    fileprivate static let new = CallHandle(word: 4)
    fileprivate static let long = CallHandle(word: 5)
    fileprivate static let short = CallHandle(word: 6)
}

extension OutgoingCalls {
    fileprivate mutating func start(_ handle: CallHandle, deadline: Instant, isRepeatable: Bool = false) -> Int64 {
        start(Call(handle, length: 10, deadline: deadline, isRepeatable ? .waitsAndRepeats : .waits))
    }
}

@Suite struct `Outgoing calls` {
    private static let later = Instant(nanoseconds: 1_000)

    enum Situation: CaseIterable {
        case waiting, sent, interrupted, gone

        var isPresent: Bool { self != .gone }
        var mayHaveArrived: Bool { self == .sent || self == .interrupted }
        /// What a call that loses its session waits under: a new number.
        static let renumbered: Int64 = 3
    }

    /// One call in the given situation, in a table that has served others before.
    private func table(_ situation: Situation, isRepeatable: Bool = false) -> (OutgoingCalls, id: Int64) {
        var calls = OutgoingCalls()
        let other = calls.start(.other, deadline: .distantFuture)
        _ = calls.withdraw(other)
        let id = calls.start(.it, deadline: Self.later, isRepeatable: isRepeatable)
        if situation != .waiting { calls.sent(id, at: .init(channel: 1, offset: 100)) }
        if situation == .interrupted { calls.interrupted(channel: 1, sent: 101) }
        if situation == .gone { _ = calls.withdraw(id) }
        return (calls, id)
    }

    @Test(arguments: Situation.allCases)
    func `a reply ends only a call that was sent`(_ situation: Situation) {
        var (calls, id) = table(situation)
        #expect(calls.replied(to: id, over: 2) == nil)
        #expect(calls.refused(id, over: 2) == nil)
        #expect(calls.replied(to: id, over: 1) == (situation == .sent ? CallHandle.it : nil))
        #expect(calls.count == (situation == .waiting || situation == .interrupted ? 1 : 0))
        #expect(calls.replied(to: id, over: 1) == nil)
    }

    @Test(arguments: [false, true])
    func `what may have run in a lost session stays known, whatever the next session says`(_ isKnownAtOnce: Bool) {
        var (calls, id) = table(.sent, isRepeatable: true)
        if isKnownAtOnce {
            id = calls.lost(channel: 1, sent: 101).renumbered.first?.id ?? 0
        } else {
            calls.interrupted(channel: 1, sent: 101)
            let removed = calls.restarted()
            #expect(removed.isEmpty)
        }
        var mayHaveRun = calls.sent(id, at: .init(channel: 2, offset: 0))
        #expect(mayHaveRun)
        // The next connection breaks before a byte has left, and the session goes on without the call.
        calls.interrupted(channel: 2, sent: 0)
        calls.resumed(over: 3, received: 0)
        mayHaveRun = calls.sent(id, at: .init(channel: 3, offset: 0))
        #expect(mayHaveRun)
        calls.interrupted(channel: 3, sent: 0)
        let removed = calls.withdraw(id)
        #expect(removed?.wasSent == true)
    }

    @Test(arguments: Situation.allCases)
    func `a withdrawn call says whether it was sent`(_ situation: Situation) {
        var (calls, id) = table(situation)
        let removed = calls.withdraw(id)
        #expect(removed?.wasSent == (situation == .gone ? nil : situation.mayHaveArrived))
        #expect(removed?.channel == (situation == .sent ? 1 : nil))
        #expect(calls.count == 0)
        #expect(calls.withdraw(id) == nil)
    }

    @Test(arguments: Situation.allCases)
    func `calls that wait can be taken out by what is known of them`(_ situation: Situation) {
        var (calls, id) = table(situation)
        #expect(calls.withdrawWaiting { call, _ in call.handle != .it }.isEmpty)
        let removed = calls.withdrawWaiting { call, mayHaveArrived in
            call.handle == .it && mayHaveArrived == (situation == .interrupted)
        }
        let isTaken = situation == .waiting || situation == .interrupted
        #expect(removed.map(\.id) == (isTaken ? [id] : []))
        #expect(removed.map(\.wasSent) == (isTaken ? [situation == .interrupted] : []))
        #expect(calls.count == (situation == .sent ? 1 : 0))
    }

    @Test(arguments: Situation.allCases)
    func `a deadline ends a call when it is due and not before`(_ situation: Situation) {
        var (calls, _) = table(situation)
        #expect(calls.expire(at: Instant(nanoseconds: 999)).isEmpty)
        #expect(calls.expire(at: Self.later).map(\.wasSent) == (situation == .gone ? [] : [situation.mayHaveArrived]))
        #expect(calls.count == 0)
        #expect(calls.nextDeadline == nil)
    }

    @Test(arguments: Situation.allCases)
    func `a channel lost with its session ends the calls that had begun to leave`(_ situation: Situation) {
        var (calls, id) = table(situation)
        #expect(calls.lost(channel: 1, sent: 101).removed.map(\.id) == (situation == .sent ? [id] : []))
        #expect(calls.waiting.map(\.id) == (situation == .waiting || situation == .interrupted ? [id] : []))
    }

    @Test(arguments: Situation.allCases)
    func `a call that may be run twice outlives its session`(_ situation: Situation) {
        var (calls, id) = table(situation, isRepeatable: true)
        #expect(calls.lost(channel: 1, sent: 101).removed.isEmpty)
        #expect(calls.restarted().isEmpty)
        #expect(
            calls.waiting.map(\.id)
                == (situation == .sent ? [Situation.renumbered] : situation.isPresent ? [id] : []))
        // It may have run, whatever becomes of it.
        #expect(calls.removeAll().map(\.wasSent) == (situation.isPresent ? [situation.mayHaveArrived] : []))
    }

    @Test(arguments: Situation.allCases)
    func `a channel lost without its session ends nothing`(_ situation: Situation) {
        var (calls, id) = table(situation)
        calls.interrupted(channel: 1, sent: 101)
        #expect(calls.waiting.map(\.id) == (situation.isPresent ? [id] : []))
        #expect(!calls.isWaiting(on: 1))
        let removed = calls.withdraw(id)
        #expect(removed?.wasSent == (situation.isPresent ? situation.mayHaveArrived : nil))
    }

    @Test(arguments: Situation.allCases)
    func `after a resumption a call that has arrived is awaited there and is not sent again`(_ situation: Situation) {
        var (calls, id) = table(situation)
        calls.resumed(over: 2, received: id)
        #expect(calls.isWaiting(on: 2) == (situation == .interrupted))
        #expect(calls.waiting.map(\.id) == (situation == .waiting ? [id] : []))
        #expect(calls.replied(to: id, over: 2) == (situation == .interrupted ? CallHandle.it : nil))
    }

    @Test(arguments: Situation.allCases)
    func `after a resumption a call that has not arrived waits, and never left`(_ situation: Situation) {
        var (calls, id) = table(situation)
        calls.resumed(over: 2, received: id - 1)
        #expect(calls.waiting.map(\.id) == (situation == .waiting || situation == .interrupted ? [id] : []))
        let removed = calls.withdraw(id)
        #expect(removed?.wasSent == (situation.isPresent ? situation == .sent : nil))
    }

    @Test(arguments: Situation.allCases)
    func `in another session a call that may have arrived has no answer to wait for`(_ situation: Situation) {
        var (calls, id) = table(situation)
        #expect(calls.restarted().map(\.id) == (situation == .interrupted ? [id] : []))
        #expect(calls.waiting.map(\.id) == (situation == .waiting ? [id] : []))
    }

    @Test(arguments: Situation.allCases)
    func `a call that provably never left waits again`(_ situation: Situation) {
        var (calls, id) = table(situation)
        #expect(calls.lost(channel: 1, sent: 100).removed.isEmpty)
        #expect(
            calls.waiting.map(\.id)
                == (situation == .sent ? [Situation.renumbered] : situation.isPresent ? [id] : []))
    }

    @Test(arguments: Situation.allCases)
    func `another channel's end concerns nobody`(_ situation: Situation) {
        var (calls, _) = table(situation)
        let before = calls.count
        #expect(calls.lost(channel: 2, sent: 1_000).removed.isEmpty)
        #expect(calls.count == before)
        #expect(calls.isWaiting(on: 1) == (situation == .sent))
    }

    @Test(arguments: Situation.allCases)
    func `a refused call waits for another connection under another number`(_ situation: Situation) {
        var (calls, id) = table(situation)
        let refused = calls.refused(id, over: 1)
        #expect(refused?.id == (situation == .sent ? Situation.renumbered : nil))
        #expect(calls.waiting.map(\.id) == (situation.isPresent ? [refused?.id ?? id] : []))
        #expect(calls.replied(to: id, over: 1) == nil)
    }

    @Test(arguments: Situation.allCases)
    func `the end of the session ends everything`(_ situation: Situation) {
        var (calls, _) = table(situation)
        #expect(calls.removeAll().count == (situation == .gone ? 0 : 1))
        #expect(calls.count == 0)
        #expect(calls.removeAll().isEmpty)
    }

    @Test(arguments: Situation.allCases)
    func `whatever becomes of a call, the driver is told which it is`(_ situation: Situation) {
        var (calls, id) = table(situation, isRepeatable: true)
        #expect(
            calls.waiting.map(\.handle) == (situation == .waiting || situation == .interrupted ? [CallHandle.it] : []))
        let refused = calls.refused(id, over: 1)
        #expect(refused?.handle == (situation == .sent ? CallHandle.it : nil))
        let withdrawn = calls.withdraw(refused?.id ?? id)
        #expect(withdrawn?.handle == (situation.isPresent ? CallHandle.it : nil))
    }

    @Test func `an old number does not reach the call that took its place`() {
        var calls = OutgoingCalls()
        let old = calls.start(.old, deadline: .distantFuture)
        _ = calls.withdraw(old)
        let numbers = (0..<1_000).map { _ in
            let new = calls.start(.new, deadline: .distantFuture)
            #expect(calls.withdraw(old) == nil)
            #expect(calls.sent(old, at: .init(channel: 1, offset: 0)) == false)
            #expect(calls.waiting.map(\.id) == [new])
            let withdrawn = calls.withdraw(new)
            #expect(withdrawn?.handle == .new)
            return new
        }
        #expect(numbers == Array(2...1_001))
    }

    @Test func `numbers grow by one and waiting calls keep their order`() {
        var calls = OutgoingCalls()
        let numbers = (0..<5 as Range<UInt>).map { calls.start(.init(word: $0), deadline: .distantFuture) }
        #expect(numbers == [1, 2, 3, 4, 5])
        _ = calls.withdraw(numbers[1])
        #expect(calls.start(.init(word: 5), deadline: .distantFuture) == 6)
        #expect(calls.waiting.map(\.handle.word) == [0, 2, 3, 4, 5])
        #expect(calls.takeNumber() == 7)
        #expect(calls.start(.init(word: 6), deadline: .distantFuture) == 8)
    }

    @Test func `the numbers whose place a long call has are passed over`() {
        var calls = OutgoingCalls()
        let long = calls.start(.long, deadline: .distantFuture)
        var last = long
        for _ in 0..<1_000 {
            let next = calls.start(.short, deadline: .distantFuture)
            #expect(next == last + 1 || next == last + 2)
            calls.sent(next, at: .init(channel: 1, offset: 0))
            #expect(calls.replied(to: next, over: 1) == .short)
            last = next
        }
        #expect(last > long + 1_000)
        let withdrawn = calls.withdraw(long)
        #expect(withdrawn?.handle == .long)
    }

    @Test func `thousands of calls each keep their own`() {
        var calls = OutgoingCalls()
        let numbers = (0..<5_000 as Range<UInt>).map { calls.start(.init(word: $0), deadline: .distantFuture) }
        #expect(calls.count == numbers.count)
        #expect(calls.waiting.map(\.id) == numbers)
        for (call, id) in numbers.enumerated().reversed() {
            let withdrawn = calls.withdraw(id)
            #expect(withdrawn?.handle.word == UInt(call))
        }
        #expect(calls.count == 0)
    }

    @Test func `the room of many is let go when a deadline finds none of them left`() {
        var calls = OutgoingCalls()
        let ids = (1...2_000 as ClosedRange<UInt>).map { calls.start(.init(word: $0), deadline: Self.later) }
        for id in ids.dropLast() { _ = calls.withdraw(id) }
        #expect(calls.expire(at: Instant(nanoseconds: 999)).isEmpty)
        #expect(calls.placeCount > 2_000)
        #expect(calls.expire(at: Self.later).map(\.id) == [2_000])
        #expect(calls.placeCount == 0)
        #expect(calls.withdraw(2_000) == nil)
        #expect(calls.start(.it, deadline: Self.later) == 2_001)
    }

    @Test(arguments: [0, -1, .min, .max] as [Int64])
    func `a number that was never handed out is nobody's`(_ id: Int64) {
        var (calls, _) = table(.sent)
        #expect(calls.replied(to: id, over: 1) == nil)
        #expect(calls.refused(id, over: 1) == nil)
        #expect(calls.withdraw(id) == nil)
        #expect(calls.count == 1)
    }
}
