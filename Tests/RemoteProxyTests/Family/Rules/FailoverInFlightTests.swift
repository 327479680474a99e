// Calls in flight within a failover when the server that has them is lost: what is asked of the next, what ends, and when.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `Calls in flight within a failover` {
    private let loop = ManualLoop()
    private let networks: [SimulatedNetwork]
    private let accounts: [SlowAccount]
    private let clients: [RPCClient]
    private let proxy: AccountProxy

    init() {
        let loop = loop
        networks = (0..<2).map { _ in SimulatedNetwork(loop: loop) }
        accounts = networks.map { network in
            let account = SlowAccount(loop)
            network.exports.add(AccountProxy(account).locked(clock: loop), named: nil)
            network.exports.add(AccountProxy(account), named: "free")
            return account
        }
        clients = networks.map { $0.client() }
        proxy = .failover(clients.map { AccountProxy($0, named: "free") }, clock: loop)
    }

    /// A call that the first server has and that would take it an hour; from now on it answers at once.
    private func inFlight(
        _ proxy: AccountProxy? = nil, _ body: @escaping @Sendable (AccountProxy) async throws -> Int
    ) throws -> Task<Int, any Error> {
        let proxy = proxy ?? self.proxy
        let before = accounts[0].begun.count
        accounts[0].takes(.seconds(3_600))
        let task = Task(executorPreference: loop) { try await body(proxy) }
        loop.run()
        #expect(accounts[0].begun.count == before + 1)
        accounts[0].takes(.zero)
        return task
    }

    private func isGone(_ network: SimulatedNetwork) {
        network.isServing = false
        network.cut()
        loop.run()
    }

    private var elapsed: Duration { Instant(nanoseconds: 0).duration(to: loop.now) }

    private func failure(_ call: Task<Int, any Error>) -> RPCError? { loop.failure { try await call.value } }

    /// Row C7 of "What became of my call".
    @Test func `as soon as an attempt is refused those that may be repeated are asked of the next`() throws {
        let calls = [try inFlight { try await $0.balance() }, try inFlight { try await $0.set(7) }]
        isGone(networks[0])
        // One after the other, in no particular order.
        #expect([0, 7].contains(try loop.complete { try await calls[0].value }))
        #expect(try loop.complete { try await calls[1].value } == 7)
        #expect(accounts[1].begun.sorted() == ["balance", "set"])
        #expect(elapsed < .seconds(1))
    }

    /// Row C7 of "What became of my call".
    @Test func `as soon as an attempt is refused the others end, and what they did is unknown`() throws {
        let call = try inFlight { try await $0.add(1) }
        isGone(networks[0])
        let error = try #require(failure(call))
        #expect(error.code == .connectionLost && error.outcome == .unknown)
        #expect(error.message.contains("the server is away"))
        #expect(accounts[1].begun.isEmpty)
        #expect(elapsed < .seconds(1))
    }

    @Test func `one that may have run is never told that it did not, whoever refused it before`() throws {
        let refusing = AccountProxy(subject: BusyEnd<any Account>())
        let proxy = AccountProxy.failover([refusing, AccountProxy(clients[0], named: "free")], clock: loop)
        let call = try inFlight(proxy) { try await $0.balance() }
        isGone(networks[0])
        #expect(failure(call)?.outcome == .unknown)
    }

    @Test func `a closed client does not end the wait for the others`() throws {
        clients[0].close()
        networks[1].isServing = false
        let proxy = proxy
        let call = Task(executorPreference: loop) { try await proxy.add(1) }
        loop.advance(by: .seconds(2))
        networks[1].isServing = true
        #expect(try loop.complete { try await call.value } == 1)
        #expect(accounts.map(\.begun) == [[], ["add"]])
    }

    /// Row C7 of "What became of my call".
    @Test func `one of which no byte has left is asked of the next`() throws {
        let proxy = proxy
        #expect(try loop.complete { try await proxy.balance() } == 0)
        var full = WireFaults()
        full.capacity = 0
        networks[0].inject(full)
        let call = Task(executorPreference: loop) { try await proxy.add(1) }
        loop.run()
        isGone(networks[0])
        #expect(try loop.complete { try await call.value } == 1)
        #expect(accounts.map(\.begun) == [["balance"], ["add"]])
        #expect(elapsed < .seconds(1))
    }

    @Test func `a server that lives is not left for a lost connection`() throws {
        accounts[0].takes(.seconds(5))
        let proxy = proxy
        let call = Task(executorPreference: loop) { try await proxy.add(1) }
        loop.advance(by: .seconds(1))
        networks[0].cut()
        #expect(try loop.complete { try await call.value } == 1)
        #expect(elapsed == .seconds(5))
        #expect(accounts.map(\.begun) == [["add"], []])
    }

    /// Row C7 of "What became of my call".
    @Test func `a server that was started anew has them no more`() throws {
        let (read, change) = (try inFlight { try await $0.balance() }, try inFlight { try await $0.add(1) })
        networks[0].restart()
        #expect(try loop.complete { try await read.value } == 0)
        #expect(failure(change)?.outcome == .unknown)
        #expect(accounts[0].begun == ["balance", "add"] && accounts[1].begun == ["balance"])
        #expect(elapsed < .seconds(1))
    }

    /// Row C7 of "What became of my call".
    @Test func `a server that falls silent is left after the keepalive time, and not waited for any longer`() throws {
        let (read, change) = (try inFlight { try await $0.balance() }, try inFlight { try await $0.add(1) })
        networks[0].cut(.silence)
        networks[0].inject(.deaf)
        loop.advance(by: .seconds(21))
        // The attempt to connect again goes on.
        #expect(networks[0].dials == 2)
        #expect(try loop.complete { try await read.value } == 0)
        #expect(failure(change)?.outcome == .unknown)
        let proxy = proxy
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        #expect(accounts[1].begun == ["balance", "add"])
        #expect(elapsed == .seconds(21))
    }

    @Test func `the first of those to come then does not wait for the silent server either`() throws {
        let proxy = proxy
        #expect(try loop.complete { try await proxy.balance() } == 0)
        networks[0].cut(.silence)
        networks[0].inject(.deaf)
        loop.advance(by: .seconds(21))
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        #expect(accounts[1].begun == ["add"])
        #expect(elapsed == .seconds(21))
    }

    @Test func `one that was given up is cancelled at its server when that is back`() throws {
        let call = try inFlight { try await $0.add(1) }
        isGone(networks[0])
        #expect(failure(call)?.outcome == .unknown)
        #expect(accounts[0].cancelled.isEmpty)
        networks[0].isServing = true
        loop.advance(by: .seconds(10))
        #expect(accounts[0].cancelled == ["add"])
    }

    @Test func `layers in between change nothing of that`() throws {
        let layered = clients.map { client in
            AccountProxy(client, named: "free").retrying(clock: loop, chance: { 1 }).with(
                timeout: .seconds(20), clock: loop
            )
            .guarded(by: .asking { _ in .allow }, clock: loop).locked(clock: loop).observed { _ in }
        }
        let read = try inFlight(.failover(layered, clock: loop)) { try await $0.balance() }
        isGone(networks[0])
        #expect(try loop.complete { try await read.value } == 0)
        #expect(elapsed < .seconds(1))
        let change = Task(executorPreference: loop) { try await AccountProxy.failover(layered).add(1) }
        #expect(try loop.complete { try await change.value } == 1)
        #expect(accounts[1].begun == ["balance", "add"])
    }

    @Test func `questions and holds end as well`() throws {
        let held = AccountProxy.failover(clients.map { AccountProxy($0) }, clock: loop)
        accounts[0].takes(.seconds(3_600))
        let other = AccountProxy(networks[0].client())
        let holder = Task(executorPreference: loop) { try await other.add(1) }
        loop.run()
        let hold = Task(executorPreference: loop) { try await held.exclusively { try await held.add(1) } }
        loop.run()
        isGone(networks[0])
        #expect(failure(hold)?.outcome == .unknown)
        holder.cancel()
        #expect(try loop.complete { try await held.supports(.add) })
        #expect(try loop.complete { try await held.exclusively { try await held.add(1) } } == 1)
        #expect(elapsed < .seconds(1))
    }

    @Test func `what is called under a hold is asked of no other`() throws {
        let (loop, networks) = (loop, networks)
        let proxy = AccountProxy.failover(clients.map { AccountProxy($0) }, clock: loop)
        let error = loop.failure {
            try await proxy.exclusively {
                #expect(try await proxy.add(1) == 1)
                networks[0].isServing = false
                networks[0].cut()
                try await loop.sleep(for: .milliseconds(1))
                return try await proxy.balance()
            }
        }
        #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
        #expect(accounts[1].begun.isEmpty)
        #expect(elapsed < .seconds(1))
    }

    @Test func `calls to others made on the way wait as ever`() throws {
        let third = SimulatedNetwork(loop: loop)
        third.exports.add(AccountProxy(PlainAccount()), named: nil)
        third.isServing = false
        let asked = AccountProxy(third.client())
        let guarded = clients.map { client in
            AccountProxy(client, named: "free").guarded(
                by: .asking { _ in try await asked.balance() == 0 ? .allow : .deny("rich") }, clock: loop)
        }
        let proxy = AccountProxy.failover(guarded, clock: loop)
        let call = Task(executorPreference: loop) { try await proxy.add(1) }
        loop.advance(by: .seconds(1))
        third.isServing = true
        #expect(try loop.complete { try await call.value } == 1)
        #expect(accounts[0].begun == ["add"])
    }
}

@Suite struct `Time within a failover` {
    private let loop = ManualLoop()
    private let networks: [SimulatedNetwork]
    private let accounts: [SlowAccount]
    private let proxy: AccountProxy

    init() {
        let loop = loop
        var configuration = RPCClient.Configuration()
        configuration.timeout = .seconds(5)
        networks = (0..<2).map { _ in SimulatedNetwork(loop: loop) }
        accounts = networks.map { network in
            let account = SlowAccount(loop)
            network.exports.add(AccountProxy(account), named: nil)
            return account
        }
        proxy = .failover(networks.map { AccountProxy($0.client(configuration)) }, clock: loop)
    }

    private var elapsed: Duration { Instant(nanoseconds: 0).duration(to: loop.now) }

    private func isGone(_ network: SimulatedNetwork) {
        network.isServing = false
        network.cut()
        loop.run()
    }

    private func call(_ body: @escaping @Sendable (AccountProxy) async throws -> Int) -> Task<Int, any Error> {
        let task = Task(executorPreference: loop) { [proxy] in try await body(proxy) }
        loop.run()
        return task
    }

    @Test func `all attempts of a call together take no longer than its timeout`() throws {
        for account in accounts { account.takes(.seconds(3_600)) }
        let call = call { try await $0.balance() }
        loop.advance(by: .seconds(4))
        isGone(networks[0])
        #expect(loop.failure { try await call.value }?.code == .deadlineExceeded)
        #expect(accounts.map(\.begun) == [["balance"], ["balance"]])
        #expect(elapsed == .seconds(5))
    }

    @Test func `a server that takes the connection and says nothing has half of the time`() throws {
        networks[0].inject(.deaf)
        let call = call { try await $0.add(1) }
        #expect(try loop.complete { try await call.value } == 1)
        #expect(accounts.map(\.begun) == [[], ["add"]])
        #expect(elapsed == .milliseconds(2_500))
    }

    @Test func `a call whose time is over is asked of no other`() throws {
        accounts[0].takes(.seconds(3_600))
        let call = call { try await $0.balance() }
        #expect(loop.failure { try await call.value }?.code == .deadlineExceeded)
        #expect(accounts[1].begun.isEmpty)
        #expect(elapsed == .seconds(5))
    }

    @Test func `a caller that has less time than that gets its answer or its error within it`() throws {
        for account in accounts { account.takes(.seconds(3_600)) }
        let limited = proxy.with(timeout: .seconds(2), clock: loop)
        let call = call { _ in try await limited.balance() }
        loop.advance(by: .seconds(1))
        isGone(networks[0])
        #expect(loop.failure { try await call.value }?.code == .deadlineExceeded)
        #expect(accounts[1].begun == ["balance"])
        #expect(elapsed == .seconds(2))
    }

    @Test func `when none is left the call waits for whichever is there first`() throws {
        let call = call { try await $0.add(1) }
        #expect(try loop.complete { try await call.value } == 1)
        for network in networks { isGone(network) }
        let other = self.call { try await $0.add(1) }
        loop.advance(by: .seconds(1))
        networks[1].isServing = true
        #expect(try loop.complete { try await other.value } == 1)
        #expect(accounts.map(\.begun) == [["add"], ["add"]])
    }

    @Test func `one that none is left for waits, and one that may have run does not`() throws {
        accounts[0].takes(.seconds(3_600))
        let (read, change) = (call { try await $0.balance() }, call { try await $0.add(1) })
        isGone(networks[1])
        isGone(networks[0])
        #expect(loop.failure { try await change.value }?.outcome == .unknown)
        #expect(elapsed < .seconds(1))
        accounts[0].takes(.zero)
        loop.advance(by: .seconds(1))
        networks[0].isServing = true
        #expect(try loop.complete { try await read.value } == 0)
        #expect(accounts[0].begun == ["balance", "add", "balance"])
    }

    @Test func `one that has waited and is lost again goes on to whoever is there then`() throws {
        for network in networks { network.isServing = false }
        accounts[0].takes(.seconds(3_600))
        let (read, change) = (call { try await $0.balance() }, call { try await $0.add(1) })
        for network in networks { network.isServing = true }
        loop.advance(by: .seconds(1))
        #expect(accounts.map { $0.begun.sorted() } == [["add", "balance"], []])
        isGone(networks[0])
        #expect(try loop.complete { try await read.value } == 0)
        #expect(loop.failure { try await change.value }?.outcome == .unknown)
        #expect(accounts[1].begun == ["balance"])
        #expect(elapsed == .seconds(1))
    }

    @Test func `a refusal by another that does not change does not hide that one may have run the call`() throws {
        let denying = AccountProxy(PlainAccount()).guarded(by: AccessPolicy { _ in .deny("no") }, clock: loop)
        let lost = ScriptedSubject<any Account>(PlainAccount(), [.fail(.lost)])
        let proxy = AccountProxy.failover([AccountProxy(subject: lost), denying], clock: loop)
        let error = try #require(loop.failure { try await proxy.balance() })
        #expect(error.code == .denied && error.outcome == .unknown)
    }
}

/// Takes the time that it is told, and writes down what began here and what was cancelled.
private final class SlowAccount: Account {
    private struct State {
        var time = Duration.zero
        var begun: [String] = []
        var cancelled: [String] = []
    }

    private let loop: ManualLoop
    private let account = PlainAccount()
    private let state = Lock(State())

    init(_ loop: ManualLoop) { self.loop = loop }

    var begun: [String] { state.withLock { $0.begun } }
    var cancelled: [String] { state.withLock { $0.cancelled } }

    func takes(_ time: Duration) { state.withLock { $0.time = time } }

    private func run(_ name: String) async throws {
        let time = state.withLock { state in
            state.begun.append(name)
            return state.time
        }
        guard time > .zero else { return }
        do {
            try await loop.sleep(for: time)
        } catch {
            state.withLock { $0.cancelled.append(name) }
            throw error
        }
    }

    func balance() async throws -> Int {
        try await run("balance")
        return try await account.balance()
    }

    func set(_ amount: Int) async throws -> Int {
        try await run("set")
        return try await account.set(amount)
    }

    func add(_ amount: Int) async throws -> Int {
        try await run("add")
        return try await account.add(amount)
    }

    func withdraw(_ amount: Int, for purpose: String, by: String) async throws -> Int {
        try await run("withdraw")
        return try await account.withdraw(amount, for: purpose, by: by)
    }

    func note(_ text: String) { account.note(text) }
}

extension WireFaults {
    /// Takes what is sent and delivers nothing.
    fileprivate static var deaf: WireFaults {
        var faults = WireFaults()
        faults.capacity = 0
        return faults
    }
}

/// Has never the time.
private struct BusyEnd<Service: Sendable>: Subject {
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        throw RPCError(.busy, "not now", outcome: .notExecuted)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {}
}
