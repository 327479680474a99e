// Less time for each call: of all limits the earliest holds, and a call that has one stays where it is.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Time limits` {
    private let network = SimulatedNetwork()
    private var loop: ManualLoop { network.loop }

    init() {
        let steps = Array(repeating: ScriptedSubject<any Account>.Step.hang(network.loop), count: 3)
        network.exports.add(AccountProxy(subject: ScriptedSubject<any Account>(PlainAccount(), steps)), named: nil)
    }

    @Test func `a call ends at the limit of its proxy`() throws {
        let proxy = AccountProxy(network.client()).with(timeout: .seconds(2), clock: loop)
        #expect(loop.failure { try await proxy.add(1) }?.code == .deadlineExceeded)
        #expect(loop.now == Instant(nanoseconds: 2_000_000_000))
    }

    @Test func `of several limits the earliest holds`() throws {
        let proxy = AccountProxy(network.client())
        let loop = loop
        let (inner, outer) = (Duration.seconds(3), Duration.seconds(2))
        let both = proxy.with(timeout: inner, clock: loop).with(timeout: outer, clock: loop)
        #expect(loop.failure { try await both.add(1) }?.code == .deadlineExceeded)
        #expect(loop.now == Instant(nanoseconds: 2_000_000_000))
        let scope = CallScope(deadline: loop.now.advanced(by: .seconds(1)))
        #expect(
            loop.failure { try await CallScope.with(scope) { try await both.add(1) } }?.code
                == .deadlineExceeded)
        #expect(loop.now == Instant(nanoseconds: 3_000_000_000))
    }

    @Test func `a call that takes no time is not concerned, and posts pass`() throws {
        let account = PlainAccount()
        let proxy = AccountProxy(account).with(timeout: .milliseconds(1))
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        proxy.note("at once")
        #expect(account.notes == ["at once"])
    }

    @Test func `the call being served has a limit too, and of all the earliest holds`() throws {
        for (outside, around, inside, expected) in [(1, 3, 4, 1), (4, 2, 3, 2), (4, 3, 1, 1)] {
            let start = loop.now
            let gateway = SimulatedNetwork(loop: loop)
            let upstream = AccountProxy(network.client()).with(timeout: .seconds(inside), clock: loop)
            gateway.exports.add(upstream.with(timeout: .seconds(around), clock: loop), named: nil)
            let proxy = AccountProxy(gateway.client()).with(timeout: .seconds(outside), clock: loop)
            #expect(loop.failure { try await proxy.add(1) }?.code == .deadlineExceeded)
            #expect(start.duration(to: loop.now) == .seconds(expected))
        }
    }

    @Test func `a call in time with others has its own limit, and the task has none afterwards`() throws {
        let (one, two) = (Lock<Instant?>(nil), Lock<Instant?>(nil))
        let proxy = AccountProxy(PlainAccount())
        try loop.complete { [loop] in
            let first = AccountProxy(subject: Peeking(next: proxy.proxySubject, seen: one))
            let second = AccountProxy(subject: Peeking(next: proxy.proxySubject, seen: two))
            async let balance = first.with(timeout: .seconds(1), clock: loop).balance()
            _ = try await second.with(timeout: .seconds(2), clock: loop).balance()
            _ = try await balance
            #expect(CallScope.current == nil)
        }
        #expect(one.withLock { $0 } == Instant(nanoseconds: 1_000_000_000))
        #expect(two.withLock { $0 } == Instant(nanoseconds: 2_000_000_000))
    }

    @Test @MainActor func `a call stays on the actor of its caller`() async throws {
        let proxy = AccountProxy(Homebody())
        #expect(try await proxy.balance() == 1)
        #expect(try await proxy.with(timeout: .seconds(60)).balance() == 1)
        #expect(try await proxy.with(timeout: .seconds(60)).with(timeout: .seconds(50)).retrying().balance() == 1)
        #expect(try await withCallTimeout(.seconds(60)) { try await proxy.balance() } == 1)
        let locked = proxy.locked()
        #expect(try await locked.exclusively { try await locked.balance() } == 1)
    }
}

/// Writes down the deadline of what passes.
private struct Peeking<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let seen: Lock<Instant?>

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        seen.withLock { $0 = CallScope.current?.deadline }
        return try await next.call(method, arguments)
    }
}

/// Its balance is 1 for who asks on the main actor.
private struct Homebody: Account {
    func balance() async throws -> Int { isOnMainActor() ? 1 : 0 }
    func set(_ amount: Int) async throws -> Int { amount }
    func add(_ amount: Int) async throws -> Int { amount }
    func withdraw(_ amount: Int, for purpose: String, by: String) async throws -> Int { amount }
    func note(_ text: String) {}

    private func isOnMainActor(_ isolation: isolated (any Actor)? = #isolation) -> Bool {
        isolation === MainActor.shared
    }
}
