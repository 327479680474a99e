// Every (state, event) pair of a call on its way out: waiting, sent, interrupted and gone, against each way to end.

import RPCWire
import Testing

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
    private func table(_ situation: Situation, isRepeatable: Bool = false) -> (OutgoingCalls, OutgoingCalls.Ticket) {
        var calls = OutgoingCalls()
        let other = calls.start(deadline: .distantFuture)
        _ = calls.withdraw(other)
        let ticket = calls.start(deadline: Self.later, isRepeatable: isRepeatable)
        if situation != .waiting { calls.sent(ticket, at: .init(stream: 1, offset: 100)) }
        if situation == .interrupted { calls.interrupted(stream: 1, sent: 101) }
        if situation == .gone { _ = calls.withdraw(ticket) }
        return (calls, ticket)
    }

    @Test(arguments: Situation.allCases)
    func `a reply ends only a call that was sent`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        #expect(calls.replied(to: ticket.id, over: 2) == nil)
        #expect(calls.refused(ticket.id, over: 2) == nil)
        #expect(calls.replied(to: ticket.id, over: 1) == (situation == .sent ? ticket : nil))
        #expect(calls.count == (situation == .waiting || situation == .interrupted ? 1 : 0))
        #expect(calls.replied(to: ticket.id, over: 1) == nil)
    }

    @Test(arguments: Situation.allCases)
    func `a withdrawn call says whether it was sent`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        let removed = calls.withdraw(ticket)
        #expect(removed?.wasSent == (situation == .gone ? nil : situation.mayHaveArrived))
        #expect(removed?.stream == (situation == .sent ? 1 : nil))
        #expect(calls.count == 0)
        #expect(calls.withdraw(ticket) == nil)
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
    func `a stream lost with its session ends the calls that had begun to leave`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        #expect(calls.lost(stream: 1, sent: 101).map(\.ticket) == (situation == .sent ? [ticket] : []))
        #expect(calls.waiting == (situation == .waiting || situation == .interrupted ? [ticket] : []))
    }

    @Test(arguments: Situation.allCases)
    func `a call that may be run twice outlives its session`(_ situation: Situation) {
        var (calls, ticket) = table(situation, isRepeatable: true)
        #expect(calls.lost(stream: 1, sent: 101).isEmpty)
        #expect(calls.restarted().isEmpty)
        #expect(
            calls.waiting.map(\.id)
                == (situation == .sent ? [Situation.renumbered] : situation.isPresent ? [ticket.id] : []))
        // It may have run, whatever becomes of it.
        #expect(calls.removeAll().map(\.wasSent) == (situation.isPresent ? [situation.mayHaveArrived] : []))
    }

    @Test(arguments: Situation.allCases)
    func `a stream lost without its session ends nothing`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        calls.interrupted(stream: 1, sent: 101)
        #expect(calls.waiting == (situation.isPresent ? [ticket] : []))
        #expect(!calls.isWaiting(on: 1))
        #expect(calls.withdraw(ticket)?.wasSent == (situation.isPresent ? situation.mayHaveArrived : nil))
    }

    @Test(arguments: Situation.allCases)
    func `after a resumption a call that has arrived is awaited there and is not sent again`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        calls.resumed(over: 2, received: ticket.id)
        #expect(calls.isWaiting(on: 2) == (situation == .interrupted))
        #expect(calls.waiting == (situation == .waiting ? [ticket] : []))
        #expect(calls.replied(to: ticket.id, over: 2) == (situation == .interrupted ? ticket : nil))
    }

    @Test(arguments: Situation.allCases)
    func `after a resumption a call that has not arrived waits, and never left`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        calls.resumed(over: 2, received: ticket.id - 1)
        #expect(calls.waiting == (situation == .waiting || situation == .interrupted ? [ticket] : []))
        #expect(calls.withdraw(ticket)?.wasSent == (situation.isPresent ? situation == .sent : nil))
    }

    @Test(arguments: Situation.allCases)
    func `in another session a call that may have arrived has no answer to wait for`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        #expect(calls.restarted().map(\.ticket) == (situation == .interrupted ? [ticket] : []))
        #expect(calls.waiting == (situation == .waiting ? [ticket] : []))
    }

    @Test(arguments: Situation.allCases)
    func `a call that provably never left waits again`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        #expect(calls.lost(stream: 1, sent: 100).isEmpty)
        #expect(
            calls.waiting.map(\.id)
                == (situation == .sent ? [Situation.renumbered] : situation.isPresent ? [ticket.id] : []))
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
    func `a refused call waits for another connection under another number`(_ situation: Situation) {
        var (calls, ticket) = table(situation)
        let refused = calls.refused(ticket.id, over: 1)
        #expect(refused?.id == (situation == .sent ? Situation.renumbered : nil))
        #expect(calls.waiting == (situation.isPresent ? [refused ?? ticket] : []))
        #expect(calls.replied(to: ticket.id, over: 1) == nil)
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
        #expect(calls.takeNumber() == 7)
        #expect(calls.start(deadline: .distantFuture).id == 8)
    }
}
