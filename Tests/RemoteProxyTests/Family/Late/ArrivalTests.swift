// The machine behind late-bound and lazy proxies, event by event.

import RPCWire
import Testing

@testable import RemoteProxy

@Suite struct `The arrival of an object` {
    private typealias Machine = Arrival<any Sendable>
    private let subject: any Subject<any Sendable> = LocalSubject<any Sendable>(object: 0)
    private func second(_ number: Int64) -> Instant { Instant(nanoseconds: number * 1_000_000_000) }

    private func goes(_ machine: inout Machine) -> Bool {
        if case .go = machine.enter() { true } else { false }
    }

    private func isOver(_ machine: inout Machine) -> Bool { machine.nextRound() == nil }

    private func begins(_ machine: inout Machine) -> Bool { machine.begin() }
    private func arrives(_ machine: inout Machine) -> Bool { machine.arrive(subject) }
    private func fails(_ machine: inout Machine) -> Int { machine.fail().count }
    private func rounds(_ machine: inout Machine) -> Machine.Round? { machine.nextRound() }
    private func watches(_ machine: inout Machine, _ time: Int64) -> Instant? { machine.watch(since: second(time)) }
    private func leaves(_ machine: inout Machine, _ time: Int64) -> Instant? { machine.leave(at: second(time)) }
    private func looks(
        _ machine: inout Machine, _ time: Int64
    ) -> (released: (any Subject<any Sendable>)?, again: Instant?) {
        machine.look(at: second(time))
    }

    private func post(_ machine: inout Machine) -> String {
        switch machine.post({ { _ in } }) {
        case .go: "goes"
        case .kept: "kept"
        case .refused: "refused"
        }
    }

    @Test func `before the object is there, calls wait and posts are kept up to the limit`() {
        var machine = Machine(limit: 2)
        #expect(!goes(&machine))
        #expect([post(&machine), post(&machine), post(&machine)] == ["kept", "kept", "refused"])
        #expect(machine.refusedPosts == 1)
        #expect(isOver(&machine))
        #expect(!machine.isFinal)
        #expect(begins(&machine))
        #expect(!goes(&machine))
        #expect(post(&machine) == "refused")
        #expect(isOver(&machine))
    }

    @Test func `one at a time makes it, and nobody once it is there`() {
        var machine = Machine(limit: 2)
        #expect(begins(&machine))
        #expect(!begins(&machine))
        #expect(fails(&machine) == 0)
        #expect(begins(&machine))
        #expect(arrives(&machine))
        #expect(!begins(&machine))
        #expect(isOver(&machine))
        #expect(!begins(&machine))
    }

    @Test func `it arrives once`() {
        var machine = Machine(limit: 2)
        #expect(arrives(&machine))
        #expect(!arrives(&machine))
        #expect(isOver(&machine))
        #expect(!arrives(&machine))
        #expect(machine.isFinal)
    }

    @Test func `a failure takes the calls out and leaves the posts`() {
        var machine = Machine(limit: 2)
        _ = goes(&machine)
        _ = goes(&machine)
        _ = post(&machine)
        #expect(begins(&machine))
        #expect(fails(&machine) == 2)
        #expect(begins(&machine))
        #expect(arrives(&machine))
        let round = machine.nextRound()
        #expect(round?.posts.count == 1)
        #expect(round?.calls.isEmpty == true)
    }

    @Test func `those who waited go first, in rounds, and whoever comes meanwhile waits for the next`() {
        var machine = Machine(limit: 2)
        _ = goes(&machine)
        _ = post(&machine)
        #expect(arrives(&machine))
        #expect(!goes(&machine))
        #expect(post(&machine) == "kept")
        var round = machine.nextRound()
        #expect(round?.posts.count == 2)
        #expect(round?.calls.count == 2)
        #expect(!goes(&machine))
        #expect(!machine.isFinal)
        round = machine.nextRound()
        #expect(round?.posts.isEmpty == true)
        #expect(round?.calls.count == 1)
        #expect(isOver(&machine))
        #expect(goes(&machine))
        #expect(post(&machine) == "goes")
        #expect(machine.isFinal)
    }

    @Test func `an object that is kept for ever is not watched`() {
        var machine = Machine(limit: 2)
        #expect(arrives(&machine))
        #expect(isOver(&machine))
        #expect(watches(&machine, 0) == nil)
        #expect(goes(&machine))
        #expect(leaves(&machine, 1) == nil)
        #expect(looks(&machine, 100).released == nil)
    }

    @Test func `an idle object is let go after its time, counted from the last that left`() {
        var machine = Machine(limit: 2, keepingAlive: .seconds(10))
        #expect(arrives(&machine))
        #expect(isOver(&machine))
        #expect(!machine.isFinal)
        #expect(watches(&machine, 0) == second(10))
        #expect(goes(&machine))
        #expect(post(&machine) == "goes")
        #expect(leaves(&machine, 3) == nil)
        #expect(leaves(&machine, 4) == nil)
        var look = machine.look(at: second(10))
        #expect(look.released == nil)
        #expect(look.again == second(14))
        look = machine.look(at: second(14))
        #expect(look.released != nil)
        #expect(look.again == nil)
        #expect(!goes(&machine))
        #expect(begins(&machine))
    }

    @Test func `an object in use is looked at when the last has left`() {
        var machine = Machine(limit: 2, keepingAlive: .seconds(10))
        #expect(arrives(&machine))
        #expect(isOver(&machine))
        #expect(goes(&machine))
        #expect(watches(&machine, 0) == nil)
        let look = machine.look(at: second(20))
        #expect(look.released == nil)
        #expect(look.again == nil)
        #expect(leaves(&machine, 21) == second(31))
        #expect(looks(&machine, 31).released != nil)
    }

    @Test func `calls that were let through from the line are in the object too`() {
        var machine = Machine(limit: 2, keepingAlive: .seconds(10))
        _ = goes(&machine)
        #expect(arrives(&machine))
        #expect(rounds(&machine)?.calls.count == 1)
        #expect(isOver(&machine))
        #expect(watches(&machine, 0) == nil)
        #expect(leaves(&machine, 1) == second(11))
    }
}
