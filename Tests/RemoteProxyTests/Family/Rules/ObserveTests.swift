// Observing, and a subject that a user wrote.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

/// What an observer was told, in words.
final class Events: Sendable {
    private let list = Lock<[String]>([])

    var all: [String] { list.withLock { $0 } }

    func add(_ event: CallEvent) {
        let outcome =
            switch event.end {
            case .returned: "returned"
            case .posted: "posted"
            case .threw(let error as RPCError): "threw \(error.code.rawValue)"
            case .threw(let error): "threw \(error)"
            }
        let milliseconds = event.duration / .milliseconds(1)
        list.withLock { $0.append("\(event.method.name) \(outcome) after \(Int(milliseconds)) ms") }
    }
}

@Suite struct `Observers` {
    private let network = SimulatedNetwork()
    private let account = PlainAccount()
    private let events = Events()

    private func observed(_ proxy: AccountProxy) -> AccountProxy {
        proxy.observed(clock: { [loop = network.loop] in loop.now }) { [events] in events.add($0) }
    }

    @Test func `every call and post is told, with its end`() throws {
        let proxy = observed(AccountProxy(account))
        #expect(try network.loop.complete { try await proxy.set(3) } == 3)
        proxy.note("hello")
        #expect(account.notes == ["hello"])
        #expect(throws: AccountFailure.overdrawn) {
            try network.loop.complete { try await proxy.withdraw(5, for: "fun", by: "me") }
        }
        #expect(
            events.all == [
                "set returned after 0 ms", "note posted after 0 ms", "withdraw threw overdrawn after 0 ms",
            ])
    }

    @Test func `a call to the other end is told with its duration, its error or its cancellation`() throws {
        let loop = network.loop
        network.exports.add(AccountProxy(subject: ScriptedSubject(account, [.hang(loop), .hang(loop)])), named: nil)
        let proxy = observed(AccountProxy(network.client()))
        #expect(loop.failure { try await proxy.with(timeout: .milliseconds(20), clock: loop).add(1) } != nil)
        let call = Task(executorPreference: loop) { try await proxy.add(1) }
        loop.advance(by: .milliseconds(5))
        call.cancel()
        #expect(throws: CancellationError.self) { try loop.complete { try await call.value } }
        #expect(events.all == ["add threw -32052 after 20 ms", "add threw CancellationError() after 5 ms"])
    }

    @Test func `taking the subject is told with the time it was waited for, and so are the calls under it`() throws {
        let loop = network.loop
        let proxy = observed(AccountProxy(account).locked(clock: loop))
        let other = Task(executorPreference: loop) {
            try await proxy.exclusively { try await loop.sleep(for: .milliseconds(30)) }
        }
        loop.run()
        _ = try loop.complete { try await proxy.exclusively { try await proxy.add(1) } }
        _ = try loop.complete { try await other.value }
        #expect(loop.failure { try await self.observed(AccountProxy(account)).exclusively {} }?.code == .noSuchMethod)
        #expect(try loop.complete { try await proxy.supports(.add) })
        #expect(
            events.all == [
                "rpc.hold returned after 0 ms", "rpc.hold returned after 30 ms", "add returned after 0 ms",
                "rpc.hold threw -32601 after 0 ms",
            ])
    }

    @Test func `an observer of an export is told who called`() throws {
        let addresses = Lock<[String?]>([])
        let exported = AccountProxy(account).observed { event in
            addresses.withLock { $0.append(event.caller?.address) }
        }
        network.exports.add(exported, named: nil)
        let proxy = AccountProxy(network.client())
        #expect(try network.loop.complete { try await proxy.add(1) } == 1)
        #expect(try network.loop.complete { try await exported.add(1) } == 2)
        #expect(addresses.withLock { $0 } == ["memory:left", nil])
    }

    @Test func `an event says in a line what has happened`() throws {
        let lines = Lock<[String]>([])
        let exported = AccountProxy(account).observed(clock: { [loop = network.loop] in loop.now }) { event in
            lines.withLock { $0.append("\(event)") }
        }
        network.exports.add(exported, named: nil)
        _ = try network.loop.complete { [network] in try await AccountProxy(network.client()).balance() }
        _ = try? network.loop.complete { try await exported.withdraw(5, for: "fun", by: "me") }
        exported.note("hello")
        #expect(
            lines.withLock { $0 } == [
                "Account.balance() -> Int for memory:left returned after 0.0 seconds",
                "Account.withdraw(amount: Int, purpose: String, by: String) -> Int threw overdrawn after 0.0 seconds",
                "Account.note(text: String) was posted after 0.0 seconds",
            ])
    }
}

/// Fifteen lines that a user may write: the first call of each method is let through, all later ones are not.
struct OncePerMethod<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    private let seen = Lock<Set<String>>([])

    init(_ next: any Subject<Service>) { self.next = next }

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        guard seen.withLock({ $0.insert(method.signature.name).inserted }) else {
            throw RPCError(.busy, "\(method.signature.wireName) was called before", outcome: .notExecuted)
        }
        return try await next.call(method, arguments)
    }
}

@Suite struct `Subjects of one's own` {
    private let loop = ManualLoop()

    @Test func `fifteen lines are a kind of proxy, for every service and with every other kind`() throws {
        let account = PlainAccount()
        let events = Events()
        let inner = AccountProxy(account).observed(clock: { [loop] in loop.now }) { events.add($0) }
        let proxy = AccountProxy(subject: OncePerMethod(inner.proxySubject)).with(timeout: .seconds(1), clock: loop)
        #expect(try loop.complete { try await proxy.add(1) } == 1)
        #expect(loop.failure { try await proxy.add(1) }?.code == .busy)
        #expect(try loop.complete { try await proxy.balance() } == 1)
        proxy.note("passes")
        #expect(account.notes == ["passes"])
        #expect(events.all.count == 3)
        #expect(try loop.complete { try await proxy.supports(.add) })
    }
}
