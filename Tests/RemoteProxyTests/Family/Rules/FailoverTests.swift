// Choosing: the first that answers, and then that one.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `Failover` {
    private let loop = ManualLoop()
    private let accounts = [PlainAccount(), PlainAccount()]

    private func subjects(_ scripts: [RPCError]...) -> [ScriptedSubject<any Account>] {
        zip(accounts, scripts).map { account, errors in ScriptedSubject(account, errors.map { .fail($0) }) }
    }

    private func failover(_ subjects: [ScriptedSubject<any Account>]) -> AccountProxy {
        .failover(subjects.map { AccountProxy(subject: $0) }, clock: loop)
    }

    @Test func `the second answers when the first has not run the call, and is asked first from then on`() throws {
        let subjects = subjects([.busy], [])
        let proxy = failover(subjects)
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        #expect(try loop.complete { try await proxy.add(1) } == 2)
        proxy.note("here")
        #expect(subjects.map(\.attempts) == [["add"], ["add", "add", "note"]])
        #expect(accounts[1].notes == ["here"])
    }

    @Test func `it comes back to the first when the second fails`() throws {
        let subjects = subjects([.busy], [.busy])
        let proxy = failover(subjects)
        #expect(loop.failure { try await proxy.add(1) }?.code == .busy)
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        #expect(subjects.map(\.attempts.count) == [2, 1])
    }

    @Test func `a call whose time is over in front of one is asked of no other`() throws {
        let other = ScriptedSubject<any Account>(accounts[1])
        let unbound = AccountProxy.unbound(on: loop, executor: loop).proxy
        let proxy = AccountProxy.failover([unbound, AccountProxy(subject: other)], clock: loop)
            .with(timeout: .seconds(1), clock: loop)
        #expect(loop.failure { try await proxy.add(1) }?.code == .deadlineExceeded)
        #expect(other.attempts.isEmpty)
    }

    @Test func `what may have run is asked of another only if once is as good as twice`() throws {
        let subjects = subjects([.lost, .lost], [])
        let proxy = failover(subjects)
        #expect(loop.failure { try await proxy.add(1) }?.outcome == .unknown)
        #expect(subjects[1].attempts.isEmpty)
        #expect(try loop.complete { try await proxy.set(1) } == 1)
        #expect(subjects[1].attempts == ["set"])
    }

    @Test func `a refusal at last does not hide that another may have run the call`() throws {
        let proxy = failover(subjects([.lost], [.busy]))
        let error = try #require(loop.failure { try await proxy.set(1) })
        #expect(error.code == .busy)
        #expect(error.outcome == .unknown)
    }

    @Test(arguments: [RPCError.broken, RPCError(.denied, "no", outcome: .notExecuted)])
    func `an answer is an answer, a refusal too`(error: RPCError) throws {
        let subjects = subjects([error], [])
        let proxy = failover(subjects)
        #expect(loop.failure { try await proxy.balance() }?.code == error.code)
        #expect(subjects[1].attempts.isEmpty)
    }

    @Test func `among none there is nobody`() throws {
        let proxy = AccountProxy.failover([])
        proxy.note("to nobody")
        let error = try #require(loop.failure { try await proxy.add(1) })
        #expect(error.code == .unavailable)
        #expect(error.outcome == .notExecuted)
    }
}

@Suite struct `Failover between servers` {
    private let loop = ManualLoop()
    private let networks: [SimulatedNetwork]
    private let accounts = [PlainAccount(), PlainAccount()]
    private let proxy: AccountProxy

    init() {
        networks = [SimulatedNetwork(loop: loop), SimulatedNetwork(loop: loop)]
        for (network, account) in zip(networks, accounts) { network.exports.add(AccountProxy(account), named: nil) }
        proxy = .failover(networks.map { AccountProxy($0.client()) }, clock: loop)
    }

    @Test func `a server that is away is passed over at once`() throws {
        networks[0].isServing = false
        let proxy = proxy
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        #expect(accounts[1].amount == 1)
        #expect(loop.now == Instant(nanoseconds: 0))
        proxy.note("there")
        #expect(try loop.complete { try await proxy.add(1) } == 2)
        #expect(accounts[1].notes == ["there"])
    }

    @Test func `a server that goes away is left, and one that comes back is there again`() throws {
        let proxy = proxy
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        networks[0].isServing = false
        networks[0].cut()
        loop.run()
        #expect(try loop.complete { try await proxy.add(10) } == 10)
        proxy.note("to the second")
        #expect(try loop.complete { try await proxy.add(10) } == 20)
        networks[0].isServing = true
        networks[1].isServing = false
        networks[1].cut()
        loop.advance(by: .seconds(20))
        #expect(try loop.complete { try await proxy.add(1) } == 2)
        #expect(accounts.map(\.notes) == [[], ["to the second"]])
    }

    @Test func `when all are away the call waits for the one that answered last`() throws {
        let proxy = proxy
        for network in networks { network.isServing = false }
        let call = Task(executorPreference: loop) { try await proxy.add(1) }
        loop.advance(by: .seconds(1))
        networks[0].isServing = true
        #expect(try loop.complete { try await call.value } == 1)
    }

    @Test func `when all stay away the call ends at its deadline`() throws {
        let proxy = proxy.with(timeout: .seconds(3), clock: loop)
        for network in networks { network.isServing = false }
        #expect(loop.failure { try await proxy.add(1) }?.code == .unavailable)
        #expect(loop.now == Instant(nanoseconds: 3_000_000_000))
    }

    @Test func `cancelling while a server is dialled ends the call at once`() throws {
        let proxy = proxy
        for network in networks { network.inject(.silent) }
        let call = Task(executorPreference: loop) { try await proxy.add(1) }
        loop.run()
        call.cancel()
        #expect(throws: CancellationError.self) { try loop.complete { try await call.value } }
        #expect(loop.now == Instant(nanoseconds: 0))
        for network in networks { network.shutDown() }
    }

    @Test func `a stack around each is looked through, and supports is asked of whoever answers`() throws {
        let members = networks.map { network in
            AccountProxy(network.client()).observed { _ in }.with(timeout: .seconds(5), clock: loop)
        }
        let proxy = AccountProxy.failover(members, clock: loop)
        networks[0].isServing = false
        #expect(try loop.complete { try await proxy.supports(.add) })
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        #expect(loop.now == Instant(nanoseconds: 0))
    }
}

extension WireFaults {
    /// Takes what is sent and delivers nothing.
    fileprivate static var silent: WireFaults {
        var faults = WireFaults()
        faults.capacity = 0
        return faults
    }
}
