// What looks for a layer of the stack, and how far it sees.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A layer of a stack` {
    private let loop = ManualLoop()
    private let account = PlainAccount()

    private var cached: AccountProxy {
        let here = CacheEnvironment(loop: loop, executor: loop, wallTime: { 0 }, block: { $0() })
        return AccountProxy(account).cached(in: .memory, methods: nil, CachePolicy(), here)
    }

    private func unmade(_ inside: AccountProxy) -> AccountProxy { .lazy(on: loop, executor: loop) { inside } }

    /// The error that asking for updates ends with.
    private func refusal(_ proxy: AccountProxy) -> RPCError? {
        do {
            _ = try proxy.updates(of: AccountProxy.Methods.balance)
            return nil
        } catch {
            return error as? RPCError
        }
    }

    @Test func `is found in a lazy object that has been made, and where to put it is said before`() throws {
        let proxy = unmade(cached)
        let error = try #require(refusal(proxy))
        #expect(error.code == .noSuchMethod)
        #expect(error.outcome == .notExecuted)
        #expect(error.message.contains("put .cached(in:) around"))
        _ = try loop.complete { try await proxy.balance() }
        #expect(refusal(proxy) == nil)
        #expect(refusal(unmade(AccountProxy(account))) != nil)
    }

    @Test func `is found through a proxy that was given as the object, and so is what became of a call`() throws {
        let inner: any Account = AccountProxy(account).locked(clock: loop)
        let proxy = AccountProxy(inner)
        _ = try loop.complete { try await proxy.exclusively { try await proxy.add(1) } }
        let busy: any Account = AccountProxy(subject: ScriptedSubject<any Account>(account, [.fail(.busy)]))
        let around = AccountProxy(busy)
        #expect(loop.failure { try await around.add(1) }?.outcome == .notExecuted)
    }

    @Test func `is told from a method that its cache does not have`() throws {
        let error = try #require(refusal(AccountProxy(account).cached(in: .memory, methods: [.set])))
        #expect(error.message.contains("name it in .cached(in:methods:)"))
    }

    @Test func `is found in what an unbound proxy has been bound to`() throws {
        let proxy = AccountProxy.unbound(on: loop, executor: loop)
        #expect(throws: RPCError.self) { try proxy.add(account) }
        #expect(proxy.receiverCount == nil)
        try proxy.bind(to: AccountProxy.multicast([]))
        try proxy.add(account)
        proxy.note("to all")
        #expect(account.notes == ["to all"])
        #expect(proxy.receiverCount == 1)
        #expect(refusal(proxy.observed { _ in })?.code == .noSuchMethod)
    }

    @Test func `is found in a counted object while that is held`() throws {
        let counted = AccountProxy.counted(clock: loop, executor: loop) { [cached] in cached }
        #expect(refusal(counted) != nil)
        let handle = counted.handle()
        loop.run()
        #expect(refusal(handle) == nil)
    }

    @Test func `is not found among several`() {
        #expect(refusal(.failover([cached, cached])) != nil)
        #expect(refusal(.failover([cached, cached]).guarded(by: AccessPolicy { _ in .allow })) != nil)
    }

    @Test func `that locks is asked through every kind around it`() throws {
        let locked = AccountProxy(account).locked(clock: loop)
        let bound = AccountProxy.unbound(on: loop, executor: loop)
        try bound.bind(to: locked)
        let around: [AccountProxy] = [
            unmade(AccountProxy(account)).locked(clock: loop), unmade(locked), bound, .failover([locked], clock: loop),
            .counted(clock: loop, executor: loop) { locked }, locked.guarded(by: AccessPolicy { _ in .allow }),
            locked.observed { _ in }, locked.retrying(), locked.with(timeout: .seconds(1), clock: loop),
            locked.cached(in: .memory),
        ]
        for proxy in around {
            let amount = try loop.complete { [loop] in
                try await proxy.exclusively {
                    let other = Task.detached(executorPreference: loop) {
                        await loop.within(milliseconds: 10) { await failure { try await proxy.set(2) } }
                    }
                    #expect(await other.value?.code == .deadlineExceeded, "it is held")
                    return try await proxy.set(1)
                }
            }
            #expect(amount == 1)
        }
    }

    @Test func `cannot be a ring of late-bound proxies`() throws {
        let (one, two) = (AccountProxy.unbound(), AccountProxy.unbound())
        try one.bind(to: two.observed { _ in })
        let error = #expect(throws: BindingError.self) { try two.bind(to: one.locked()) }
        #expect(error?.description.contains("itself") == true)
        try two.bind(to: account)
        one.note("arrives")
        #expect(account.notes == ["arrives"])
    }
}
