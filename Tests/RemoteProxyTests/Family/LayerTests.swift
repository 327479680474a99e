// What looks for a layer of the stack, and how far it sees.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A layer of a stack` {
    private let loop = ManualLoop()
    private let account = PlainAccount()

    private func unmade(_ inside: AccountProxy) -> AccountProxy { .lazy(on: loop, executor: loop) { inside } }

    @Test func `is found through a proxy that was given as the object, and so is what became of a call`() throws {
        let inner: any Account = AccountProxy(account).locked(clock: loop)
        let proxy = AccountProxy(inner)
        _ = try loop.complete { try await proxy.exclusively { try await proxy.add(1) } }
        let busy: any Account = AccountProxy(subject: ScriptedSubject<any Account>(account, [.fail(.busy)]))
        let around = AccountProxy(busy)
        #expect(loop.failure { try await around.add(1) }?.outcome == .notExecuted)
    }

    @Test func `that locks is asked through every kind around it`() throws {
        let locked = AccountProxy(account).locked(clock: loop)
        let (bound, binding) = AccountProxy.unbound(on: loop, executor: loop)
        try binding.bind(to: locked)
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
        let ((one, oneBinding), (two, twoBinding)) = (AccountProxy.unbound(), AccountProxy.unbound())
        try oneBinding.bind(to: two.observed { _ in })
        let error = #expect(throws: BindingError.self) { try twoBinding.bind(to: one.locked()) }
        #expect(error?.description.contains("itself") == true)
        try twoBinding.bind(to: account)
        one.note("arrives")
        #expect(account.notes == ["arrives"])
    }
}
