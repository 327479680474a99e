// What a subject is told of its caller, and when the caller is gone.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `Callers` {
    /// What a task sees of the call for which it runs.
    private struct Sight: Hashable {
        let session = Caller.current?.id
        let deadline = CallScope.current?.deadline
    }

    private final class Host: Probe {
        let caller = Lock<Caller?>(nil)

        /// What the tasks that outlive their calls see then, and what the calls saw themselves.
        let seen = Lock<[(byCall: Sight, later: Sight)]>([])
        private let loop: ManualLoop

        init(_ loop: ManualLoop) { self.loop = loop }

        func echo(_ number: Int) async throws -> Int {
            caller.withLock { $0 = Caller.current }
            return number
        }
        func fail(_ number: Int) async throws -> Int { number }
        func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
        /// Leaves a task behind that looks again so many milliseconds later.
        func refuse(_ number: Int) async throws -> Int {
            let sight = Sight()
            Task(executorPreference: loop) { [loop, seen] in
                try await loop.sleep(for: .milliseconds(number))
                seen.withLock { $0.append((sight, Sight())) }
            }
            return number
        }
        func note(_ number: Int) {}
    }

    private let network = SimulatedNetwork()
    private let host: Host

    init() {
        host = Host(network.loop)
        network.exports.add(ProbeProxy(host), named: nil)
    }

    @Test func `a subject is told once that its caller is gone, or at once if it is`() throws {
        let client = network.client()
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        let caller = try #require(host.caller.withLock { $0 })
        #expect(caller.address == "memory:left")
        let told = Lock(0)
        caller.whenGone { told.withLock { $0 += 1 } }
        network.loop.run()
        #expect(told.withLock { $0 } == 0)
        client.close()
        network.loop.advance(by: .seconds(2))
        #expect(told.withLock { $0 } == 1)
        caller.whenGone { told.withLock { $0 += 1 } }
        #expect(told.withLock { $0 } == 2)
    }

    // MARK: a caller without a connection

    @Test func `withCaller is a caller with an identity, an address and a session of its own`() async throws {
        let ann = Identity(name: "ann", roles: ["teller"])
        await withCaller(ann, at: "tcp://192.0.2.1:70") {
            let caller = Caller.current
            #expect(caller?.identity == ann && caller?.address == "tcp://192.0.2.1:70")
            await withCaller(nil) {
                #expect(Caller.current?.identity == nil && Caller.current?.address == "tcp://127.0.0.1:0")
                #expect(Caller.current != caller && Caller.current?.id != caller?.id)
            }
            #expect(Caller.current == caller && Caller.current?.id == caller?.id)
        }
        #expect(Caller.current == nil)
        await withCallTimeout(.seconds(5)) {
            let deadline = CallScope.current?.deadline
            await withCaller(nil) { #expect(CallScope.current?.deadline == deadline && deadline != nil) }
        }
    }

    @Test func `the caller of withCaller is gone when the body is over, also when it throws`() async throws {
        struct Enough: Error {}
        let told = Lock(0)
        let tell = { @Sendable () -> Void in told.withLock { $0 += 1 } }
        var caller: Caller?
        await withCaller(nil) {
            caller = Caller.current
            caller?.whenGone(tell)
            #expect(told.withLock { $0 } == 0)
        }
        #expect(told.withLock { $0 } == 1)
        caller?.whenGone(tell)
        #expect(told.withLock { $0 } == 2)
        await #expect(throws: Enough.self) {
            try await withCaller(nil) {
                Caller.current?.whenGone(tell)
                throw Enough()
            }
        }
        #expect(told.withLock { $0 } == 3)
    }

    @Test func `calls to the caller of withCaller fail at once`() async throws {
        let error = await #expect(throws: RPCError.self) {
            try await withCaller(nil) {
                guard let caller = Caller.current else { return }
                _ = try await ProbeProxy(caller).echo(1)
            }
        }
        #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
    }

    @Test func `calls to the caller of withCaller reach the proxies that it is given, in place`() async throws {
        let fake = RecordingProbe(network.loop)
        try await withCaller(nil, exports: ProbeProxy(fake)) {
            let caller = try #require(Caller.current)
            #expect(try await ProbeProxy(caller).echo(1) == 1)
            ProbeProxy(caller).note(2)
            #expect(fake.executed == [1] && fake.noted == [2])
            await #expect(throws: RPCError.self) { try await ProbeProxy(caller, named: "left").echo(3) }
        }
        #expect(fake.executed == [1])
    }

    @Test func `a task that a subject leaves running goes on for its own caller, whoever is served meanwhile`() throws {
        let (first, second) = (network.client(), network.client())
        let loop = network.loop
        for (number, client) in [(10, first), (20, second), (30, first)] {
            #expect(try loop.complete { try await ProbeProxy(client).refuse(number) } == number)
        }
        var sessions: [Caller.ID?] = []
        for client in [first, second] {
            #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1)
            sessions.append(try #require(host.caller.withLock { $0 }).id)
        }
        loop.advance(by: .milliseconds(50))
        #expect(sessions[0] != sessions[1])
        #expect(host.seen.withLock { $0.map(\.later.session) } == [sessions[0], sessions[1], sessions[0]])
    }

    @Test func `a task that a subject leaves running keeps caller and deadline, also of calls that are read at once`()
        throws
    {
        let clients = [network.client(), network.client()]
        let loop = network.loop
        let calls = (1...60).map { number in
            let scope = CallScope(deadline: loop.now.advanced(by: .seconds(5 + number / 3 % 4)))
            return Task(executorPreference: loop) {
                try await CallScope.with(scope) { try await ProbeProxy(clients[number / 10 % 2]).refuse(number) }
            }
        }
        for call in calls { _ = try loop.complete { try await call.value } }
        loop.advance(by: .milliseconds(100))
        let seen = host.seen.withLock { $0 }
        #expect(seen.count == calls.count)
        for sight in seen { #expect(sight.later == sight.byCall) }
        #expect(Set(seen.map(\.byCall)).count == clients.count * 4)
    }
}
