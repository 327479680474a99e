// The machine behind lazy, counted and late-bound proxies, event by event.

import RPCWire
import Testing

@testable import RemoteProxy

/// The machine with what its steps say.
private final class Machine {
    private var arrival: Arrival

    init(limit: Int = 2, isMade: Bool = true, keepingAlive: Duration? = nil) {
        arrival = Arrival(limit: limit, isMade: isMade, keepingAlive: keepingAlive)
    }

    var refusedPosts: Int { arrival.refusedPosts }
    var users: Int { arrival.users }
    var isThere: Bool { arrival.hasObject }

    private func second(_ number: Int64) -> Instant { Instant(nanoseconds: number * 1_000_000_000) }

    /// What is to be done next.
    private func step(at time: Int64 = 0) -> String {
        switch arrival.step(at: second(time)) {
        case .nothing: ""
        case .make: "make"
        case .letGo: "let go"
        case .look(let time): "look at \(time.nanoseconds / 1_000_000_000)"
        }
    }

    func join() -> String {
        arrival.join()
        return step()
    }

    func leave(at time: Int64 = 0) -> String {
        arrival.leave(at: second(time))
        return step(at: time)
    }

    func look(at time: Int64) -> String {
        arrival.look()
        return step(at: time)
    }

    func gone() -> String {
        arrival.gone()
        return step()
    }

    func arrive() -> Bool { arrival.arrive() }

    func fail(droppingPosts: Bool = false) -> Int {
        let calls = arrival.fail(droppingPosts: droppingPosts)
        #expect(step().isEmpty)
        return calls.count
    }

    func call() -> String { name(arrival.enter()) }
    func post() -> String {
        let entry = arrival.post(nil)
        guard case .keep = entry else { return name(entry) }
        return name(arrival.post(try? KeptPost("", from: nil, of: 0) {}))
    }

    private func name(_ entry: Arrival.Entry) -> String {
        switch entry {
        case .go: "goes" + step()
        case .wait: "waits " + step()
        case .keep: "is not made ready"
        case .kept: "kept " + step()
        case .refused: "refused " + step()
        }
    }

    /// How many posts and calls go next. Without posts the object is settled from then on; then also the step.
    func round(at time: Int64 = 0) -> String {
        let round = arrival.nextRound(at: second(time))
        guard let round else { return "nothing" }
        guard round.posts.isEmpty else { return "\(round.posts.count) posts, \(round.calls.count) calls" }
        return "\(round.calls.count) calls, settled \(step(at: time))"
    }
}

@Suite struct `The arrival of an object` {
    @Test func `before the object is there, calls wait and posts are kept up to the limit`() {
        let machine = Machine()
        #expect(machine.call() == "waits make")
        #expect([machine.post(), machine.post(), machine.post()] == ["kept ", "kept ", "refused "])
        #expect(machine.refusedPosts == 1)
        #expect(!machine.isThere)
        #expect(machine.call() == "waits ")
    }

    @Test func `the first user has it made, even a post that is refused, but not where it is bound`() {
        var machine = Machine(limit: 0)
        #expect(machine.post() == "refused make")
        machine = Machine()
        #expect(machine.join() == "make")
        machine = Machine(isMade: false)
        #expect(machine.call() == "waits ")
        #expect(machine.post() == "kept ")
    }

    @Test func `one at a time makes it, and none once it is there`() {
        let machine = Machine()
        #expect(machine.call() == "waits make")
        #expect(machine.call() == "waits ")
        #expect(machine.fail() == 2)
        #expect(machine.call() == "waits make")
        #expect(machine.arrive())
        #expect(machine.call() == "waits ")
        #expect(machine.round() == "2 calls, settled ")
        #expect(machine.call() == "goes")
    }

    @Test func `it arrives once`() {
        let machine = Machine(isMade: false)
        #expect(machine.arrive())
        #expect(!machine.arrive())
        #expect(machine.round() == "0 calls, settled ")
        #expect(!machine.arrive())
        #expect(machine.isThere)
    }

    @Test func `a failure takes the calls out, and leaves the posts unless they are dropped`() {
        let machine = Machine()
        _ = [machine.call(), machine.call(), machine.post()]
        #expect(machine.fail() == 2)
        #expect(machine.users == 3)
        #expect(machine.call() == "waits make")
        #expect(machine.fail(droppingPosts: true) == 1)
        #expect(machine.users == 3)
        #expect(machine.call() == "waits make")
        #expect(machine.arrive())
        #expect(machine.round() == "1 calls, settled ")
    }

    @Test func `calls and posts that waited go first, in rounds, and later ones wait for the next`() {
        let machine = Machine()
        _ = [machine.call(), machine.post()]
        #expect(machine.arrive())
        #expect(machine.call() == "waits ")
        #expect(machine.post() == "kept ")
        #expect(machine.round() == "2 posts, 2 calls")
        #expect(machine.call() == "waits ")
        #expect(machine.round() == "1 calls, settled ")
        #expect(machine.call() == "goes")
        #expect(machine.post() == "goes", "what the calls of the last round do next is not kept")
        #expect(machine.round() == "nothing")
    }

    @Test func `an object that is kept for ever is not watched`() {
        let machine = Machine()
        #expect(machine.arrive())
        #expect(machine.round() == "0 calls, settled ")
        #expect(machine.call() == "goes")
        #expect(machine.leave(at: 1).isEmpty)
        #expect(machine.look(at: 100).isEmpty)
        #expect(machine.isThere)
    }

    @Test func `an unused object is let go after its time, counted from the last that left`() {
        let machine = Machine(keepingAlive: .seconds(10))
        #expect(machine.arrive())
        #expect(machine.round() == "0 calls, settled look at 10")
        #expect(machine.call() == "goes")
        #expect(machine.post() == "goes")
        #expect(machine.leave(at: 3).isEmpty)
        #expect(machine.leave(at: 4).isEmpty)
        #expect(machine.look(at: 10) == "look at 14")
        #expect(machine.look(at: 14) == "let go")
        #expect(!machine.isThere)
        #expect(machine.call() == "waits ")
        #expect(machine.gone() == "make")
    }

    @Test func `an object in use is looked at when the last has left`() {
        let machine = Machine(keepingAlive: .seconds(10))
        _ = machine.call()
        #expect(machine.arrive())
        #expect(machine.round(at: 1) == "1 calls, settled ")
        #expect(machine.look(at: 20).isEmpty)
        #expect(machine.leave(at: 21) == "look at 31")
        #expect(machine.look(at: 31) == "let go")
    }
}

@Suite struct `The count of holders` {
    private var counted: Machine { Machine(keepingAlive: .zero) }

    @Test func `the first has it made, the last has it let go, and the next has it made again`() {
        let machine = counted
        for _ in 0..<2 {
            #expect(machine.join() == "make")
            #expect(machine.join().isEmpty)
            #expect(machine.arrive())
            #expect(machine.round() == "0 calls, settled ")
            #expect(machine.join().isEmpty)
            #expect(machine.leave().isEmpty)
            #expect(machine.leave().isEmpty)
            #expect(machine.leave() == "let go")
            #expect(machine.gone().isEmpty)
        }
    }

    @Test func `what is made when it is no longer wanted is let go at once`() {
        let machine = counted
        #expect(machine.join() == "make")
        #expect(machine.leave().isEmpty)
        #expect(machine.arrive())
        #expect(machine.round() == "0 calls, settled let go")
    }

    @Test func `a call that comes while the last object is being let go waits for a new one`() {
        let machine = counted
        #expect(machine.join() == "make")
        #expect(machine.arrive())
        #expect(machine.round() == "0 calls, settled ")
        #expect(machine.leave() == "let go")
        #expect(machine.call() == "waits ")
        #expect(machine.gone() == "make")
    }

    @Test func `a user that comes and goes while the last object is being let go has nothing made`() {
        let machine = counted
        #expect(machine.join() == "make")
        #expect(machine.arrive())
        #expect(machine.round() == "0 calls, settled ")
        #expect(machine.leave() == "let go")
        #expect(machine.join().isEmpty)
        #expect(machine.leave().isEmpty)
        #expect(machine.gone().isEmpty)
    }

    @Test func `a failure leaves the holders, and the next has it tried again`() {
        let machine = counted
        #expect([machine.join(), machine.join()] == ["make", ""])
        #expect(machine.fail(droppingPosts: true) == 0)
        #expect(machine.leave().isEmpty)
        #expect(machine.join() == "make")
        #expect(machine.arrive())
        #expect(machine.round() == "0 calls, settled ")
        #expect(machine.leave().isEmpty)
        #expect(machine.leave() == "let go")
    }
}
