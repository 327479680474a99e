// Retrying: which failures are tried again, for which methods, how often and until when.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Retries` {
    private let loop = ManualLoop()
    private let account = PlainAccount()

    private func subject(_ errors: RPCError...) -> ScriptedSubject<any Account> {
        ScriptedSubject(account, errors.map { .fail($0) })
    }

    private func retrying(
        _ subject: ScriptedSubject<any Account>, _ policy: RetryPolicy = RetryPolicy(),
        repeating methods: [AccountProxy.MethodName] = []
    ) -> AccountProxy {
        AccountProxy(subject: subject).retrying(policy, repeating: methods, clock: loop, chance: { 1 })
    }

    @Test func `what was not executed is tried again, whatever the method, after waits that double`() throws {
        let subject = subject(.busy, .busy, .busy)
        let proxy = retrying(subject)
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        #expect(subject.attempts == ["add", "add", "add", "add"])
        #expect(loop.now == Instant(nanoseconds: 350_000_000))
    }

    @Test func `waits are as long as chance wants, up to the whole`() throws {
        for (chance, wait) in [(0.0, 0), (0.5, 25), (1.0, 50)] {
            let subject = ScriptedSubject<any Account>(PlainAccount(), [.fail(.busy)])
            let proxy = AccountProxy(subject: subject).retrying(clock: loop, chance: { chance })
            let start = loop.now
            #expect(try loop.complete { try await proxy.add(1) } == 1)
            #expect(start.duration(to: loop.now) == .milliseconds(wait))
        }
    }

    @Test func `what may have been executed is tried again only if once is as good as twice`() throws {
        for (name, isRetried) in [("balance", true), ("set", true), ("add", false)] {
            let subject = subject(.lost)
            let proxy = retrying(subject)
            let failure = loop.failure {
                switch name {
                case "balance": try await proxy.balance()
                case "set": try await proxy.set(1)
                default: try await proxy.add(1)
                }
            }
            #expect((failure == nil) == isRetried)
            #expect(subject.attempts.count == (isRetried ? 2 : 1))
        }
        let subject = subject(.lost)
        let named = retrying(subject, repeating: [.add])
        #expect(try loop.complete { try await named.add(1) } == 2)
        #expect(subject.attempts.count == 2)
    }

    @Test(arguments: [
        RPCError.broken, RPCError(.busy, "a subject's own", outcome: .executed),
        RPCError(.denied, "no", outcome: .notExecuted), RPCError(.noSuchMethod, "what?", outcome: .notExecuted),
        RPCError(.invalidArguments, "what?", outcome: .notExecuted), RPCError(.closed, "over", outcome: .notExecuted),
    ]) func `a failure that would only come again is not tried again`(error: RPCError) throws {
        let subject = subject(error)
        let proxy = retrying(subject)
        #expect(loop.failure { try await proxy.balance() }?.code == error.code)
        #expect(subject.attempts.count == 1)
    }

    @Test func `an error that the service declares is an answer`() throws {
        let subject = subject()
        let proxy = retrying(subject)
        #expect(throws: AccountFailure.overdrawn) {
            try loop.complete { try await proxy.withdraw(1, for: "fun", by: "me") }
        }
        #expect(subject.attempts.count == 1)
    }

    @Test func `when the attempts are used up the last failure is thrown`() throws {
        var policy = RetryPolicy()
        policy.maximumAttempts = 2
        let subject = subject(.busy, .busy)
        let proxy = retrying(subject, policy)
        #expect(loop.failure { try await proxy.add(1) }?.code == .busy)
        #expect(subject.attempts.count == 2)
    }

    @Test func `a refusal at last does not hide that an earlier attempt may have run`() throws {
        let subject = subject(.busy, .lost, .busy, .busy)
        let proxy = retrying(subject)
        let error = try #require(loop.failure { try await proxy.set(1) })
        #expect(error.code == .busy)
        #expect(error.outcome == .unknown)
    }

    @Test func `nothing is tried past the deadline`() throws {
        let subject = subject(.busy, .busy, .busy)
        let proxy = retrying(subject)
        let scope = CallScope(deadline: Instant(nanoseconds: 100_000_000))
        let error = loop.failure { try await CallScope.with(scope) { try await proxy.add(1) } }
        #expect(error?.code == .busy)
        #expect(subject.attempts.count == 2)
        // It does not wait for what would come too late.
        #expect(loop.now == Instant(nanoseconds: 50_000_000))
    }

    @Test func `all attempts together take no longer than a call may`() throws {
        let network = SimulatedNetwork()
        network.isServing = false
        var policy = RetryPolicy()
        policy.timeout = .seconds(40)
        let proxy = AccountProxy(network.client()).retrying(policy, clock: network.loop, chance: { 1 })
        #expect(network.loop.failure { try await proxy.add(1) }?.code == .unavailable)
        #expect(network.loop.now == Instant(nanoseconds: 40_000_000_000))
    }

    @Test func `cancelling during a wait ends the call at once`() throws {
        let subject = subject(.busy)
        let proxy = retrying(subject)
        let call = Task(executorPreference: loop) { try await proxy.add(1) }
        loop.run()
        call.cancel()
        #expect(throws: CancellationError.self) { try loop.complete { try await call.value } }
        #expect(loop.now == Instant(nanoseconds: 0))
        #expect(subject.attempts.count == 1)
    }

    @Test func `posts pass in place`() {
        let subject = subject(.busy)
        retrying(subject).note("once")
        #expect(account.notes == ["once"])
    }
}

@Suite struct `Retry budgets` {
    @Test func `one call in five may be tried again, and ten in a second`() {
        var account = RetryAccount()
        let begin = Instant(nanoseconds: 0)
        let first = retries(from: &account, afterCalls: 0, at: begin)
        let afterCalls = retries(from: &account, afterCalls: 100, at: begin)
        let later = retries(from: &account, afterCalls: 100, at: begin.advanced(by: .seconds(2)))
        #expect([first, afterCalls, later] == [10, 20, 20])
    }

    @Test func `what is saved up is limited`() {
        var account = RetryAccount()
        let begin = Instant(nanoseconds: 0)
        let first = retries(from: &account, afterCalls: 1_000_000, at: begin)
        let later = retries(from: &account, afterCalls: 2_000_000, at: begin.advanced(by: .seconds(86_400)))
        #expect([first, later] == [100, 100])
    }

    /// How many may be had at one moment.
    private func retries(from account: inout RetryAccount, afterCalls calls: Int, at now: Instant) -> Int {
        var count = 0
        while account.withdraw(afterCalls: calls, at: now) { count += 1 }
        return count
    }

    @Test func `all proxies of one client share a budget, and layers between do not hide it`() throws {
        let network = SimulatedNetwork()
        let (client, other) = (network.client(), network.client())
        func budget(_ proxy: AccountProxy) -> RetryBudget? {
            (proxy.proxySubject as? RetryingSubject<any Account>)?.budget
        }
        let first = AccountProxy(client).retrying()
        let second = AccountProxy(client, named: "x").observed { _ in }.with(timeout: .seconds(1)).retrying()
        #expect(budget(first) === budget(second))
        #expect(budget(first) !== budget(AccountProxy(other).retrying()))
        #expect(budget(AccountProxy(PlainAccount()).retrying()) != nil)
    }

    @Test func `what a cache fetches behind callers is repeated by a layer inside it, not by one around it`() throws {
        let loop = ManualLoop()
        let here = CacheEnvironment.manual(loop)
        for (isInside, attempts) in [(true, 3), (false, 2)] {
            let subject = ScriptedSubject<any Account>(PlainAccount(), [.answer, .fail(.busy)])
            let plain = AccountProxy(subject: subject)
            let policy = CachePolicy()
            let proxy =
                isInside
                ? plain.retrying(clock: loop, chance: { 1 }).cached(in: .memory, methods: nil, policy, here)
                : plain.cached(in: .memory, methods: nil, policy, here).retrying(clock: loop, chance: { 1 })
            for _ in 0..<2 { #expect(try loop.complete { try await proxy.balance() } == 0) }
            loop.advance(by: .milliseconds(200))
            #expect(subject.attempts.count == attempts)
        }
    }

    /// F8: a server that answers busy to half of all calls for twenty seconds.
    @Test func `a busy server gets a fifth more calls and ten a second, not twice as many`() throws {
        let network = SimulatedNetwork()
        let loop = network.loop
        let steps = (0..<20_000).map { $0.isMultiple(of: 2) ? ScriptedSubject<any Account>.Step.fail(.busy) : .answer }
        let server = ScriptedSubject<any Account>(PlainAccount(), steps)
        network.exports.add(AccountProxy(subject: server), named: nil)
        let chance = Lock(SeededGenerator(seed: 8))
        let proxy = AccountProxy(network.client()).retrying(
            clock: loop, chance: { chance.withLock { .random(in: 0..<1, using: &$0) } })
        let (calls, answered) = (20 * 50, Lock(0))
        for _ in 0..<calls {
            Task(executorPreference: loop) {
                if (try? await proxy.add(1)) != nil { answered.withLock { $0 += 1 } }
            }
            loop.advance(by: .milliseconds(20))
        }
        loop.advance(by: .seconds(20))
        let attempts = server.attempts.count
        #expect(attempts > calls)
        #expect(attempts <= calls * 12 / 10 + 20 * 10 + 10)
        #expect(answered.withLock { $0 } > calls / 2)
        network.shutDown()
    }
}
