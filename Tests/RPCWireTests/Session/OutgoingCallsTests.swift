// Every (state, event) pair of a call on its way out: waiting, sent and gone, against each way to end.

import RPCWire
import Testing

@Suite struct `Outgoing calls` {
    private static let later = Instant(nanoseconds: 1_000)

    enum Situation: CaseIterable { case waiting, sent, gone }

    /// One call in the given situation, in a table that has served others before.
    private func table(_ situation: Situation) -> (OutgoingCalls, OutgoingCalls.Ticket) {
        var calls = OutgoingCalls()
        let other = calls.start(deadline: .distantFuture)
        _ = calls.withdraw(other)
        let ticket = calls.start(deadline: Self.later)
        if situation != .waiting { calls.sent(ticket, at: .init(stream: 1, offset: 100)) }
        if situation == .gone { _ = calls.withdraw(ticket) }
        return (calls, ticket)
    }

    @Test(arguments: Situation.allCases)
    func `a reply ends only a call that was sent`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        #expect(calls.replied(to: ticket.id, over: 2) == nil)
        #expect(calls.refused(ticket.id, over: 2) == nil)
        #expect(calls.replied(to: ticket.id, over: 1) == (situation == .sent ? ticket : nil))
        #expect(calls.count == (situation == .waiting ? 1 : 0))
        #expect(calls.replied(to: ticket.id, over: 1) == nil)
    }

    @Test(arguments: Situation.allCases)
    func `a withdrawn call says whether it was sent`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        let removed = calls.withdraw(ticket)
        #expect(removed?.wasSent == (situation == .gone ? nil : situation == .sent))
        #expect(calls.count == 0)
        #expect(calls.withdraw(ticket) == nil)
    }

    @Test(arguments: Situation.allCases)
    func `a deadline ends a call when it is due and not before`(_ situation: Situation) {
        var (calls, _) = table(situation)
        #expect(calls.expire(at: Instant(nanoseconds: 999)).isEmpty)
        #expect(calls.expire(at: Self.later).map(\.wasSent) == (situation == .gone ? [] : [situation == .sent]))
        #expect(calls.count == 0)
        #expect(calls.nextDeadline == nil)
    }

    @Test(arguments: Situation.allCases)
    func `a lost stream ends the calls that had begun to leave`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        #expect(calls.lost(stream: 1, sent: 101).map(\.ticket) == (situation == .sent ? [ticket] : []))
        #expect(calls.waiting == (situation == .waiting ? [ticket] : []))
    }

    @Test(arguments: Situation.allCases)
    func `a call that provably never left waits again`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        #expect(calls.lost(stream: 1, sent: 100).isEmpty)
        #expect(calls.waiting == (situation == .gone ? [] : [ticket]))
    }

    @Test(arguments: Situation.allCases)
    func `another stream's end concerns nobody`(_ situation: Situation) {
        var (calls, _) = table(situation)
        let before = calls.count
        #expect(calls.lost(stream: 2, sent: 1_000).isEmpty)
        #expect(calls.count == before)
        #expect(calls.isWaiting(on: 1) == (situation == .sent))
    }

    @Test(arguments: Situation.allCases)
    func `a refused call waits for another connection`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        #expect(calls.refused(ticket.id, over: 1) == (situation == .sent ? ticket : nil))
        #expect(calls.waiting == (situation == .gone ? [] : [ticket]))
    }

    @Test(arguments: Situation.allCases)
    func `the end of the session ends everything`(_ situation: Situation) {
        var (calls, _) = table(situation)
        #expect(calls.removeAll().count == (situation == .gone ? 0 : 1))
        #expect(calls.count == 0)
        #expect(calls.removeAll().isEmpty)
    }

    @Test func `an old ticket does not reach the call that took its slot`() {
        var (calls, old) = table(.gone)
        let new = calls.start(deadline: .distantFuture)
        #expect(new.slot == old.slot)
        #expect(calls.withdraw(old) == nil)
        calls.sent(old, at: .init(stream: 1, offset: 0))
        #expect(calls.waiting == [new])
    }

    @Test func `numbers grow by one and waiting calls keep their order`() {
        var calls = OutgoingCalls()
        let tickets = (0..<5).map { _ in calls.start(deadline: .distantFuture) }
        #expect(tickets.map(\.id) == [1, 2, 3, 4, 5])
        _ = calls.withdraw(tickets[1])
        let last = calls.start(deadline: .distantFuture)
        #expect(last.slot == tickets[1].slot)
        #expect(calls.waiting.map(\.id) == [1, 3, 4, 5, 6])
    }
}
