// Clients in the process of their server: what differs from a socket, and what must not.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `In process` {
    private let ann = Identity(name: "ann", roles: ["teller"])

    /// Answers with the identity of its caller.
    private static let asking = GreeterProxy(
        ScriptedGreeter { _ in
            guard let identity = Caller.current?.identity else { return "nobody" }
            return "\(identity.name) \(identity.roles.sorted())"
        })

    private func server(
        _ proxy: some ServiceProxy, _ configure: (inout RPCServer.Configuration) -> Void = { _ in }
    ) -> RPCServer {
        var configuration = RPCServer.Configuration()
        configuration.log = { _ in }
        configure(&configuration)
        let server = RPCServer(configuration)
        server.export(proxy)
        return server
    }

    private func whoIs(_ client: RPCClient) async throws -> String { try await GreeterProxy(client).greet("") }

    @Test func `a call runs on the thread of the clients`() async throws {
        let thread = Lock<UInt>(0)
        let server = server(
            GreeterProxy(
                ScriptedGreeter { _ in
                    thread.withLock { $0 = SystemThread.current }
                    return Caller.current?.address ?? "nobody"
                }))
        let client = RPCClient(.inProcess(server), .patient)
        // On a busy machine another thread may have taken the loop over in between.
        try await until {
            let address = try await GreeterProxy(client).greet("")
            #expect(address == "in process")
            let own = await Task(executorPreference: client.executor) { SystemThread.current }.value
            return thread.withLock { $0 } == own
        }
        #expect(server.counters.connectionsOpen == 1 && server.counters.connectionsAccepted == 1)
        #expect(server.counters.requestsBegun > 0)
        client.close()
        await server.stop()
    }

    @Test func `a client is taken for what the program says, with or without a list of tokens`() async throws {
        let tokens = try TokenList(parsing: "bob audit bob-0123456789abcdef")
        for list in [nil, tokens] {
            let server = server(Self.asking) { $0.tokens = list }
            #expect(try await whoIs(RPCClient(.inProcess(server, as: ann), .patient)) == "ann [\"teller\"]")
            let unknown = RPCClient(.inProcess(server), .patient)
            if list == nil {
                #expect(try await whoIs(unknown) == "nobody")
            } else {
                let error = await #expect(throws: RPCError.self) { _ = try await whoIs(unknown) }
                #expect(error?.code == .unauthenticated && error?.outcome == .notExecuted)
                let bob = RPCClient(.inProcess(server)) { $0.token = "bob-0123456789abcdef" }
                #expect(try await whoIs(bob) == "bob [\"audit\"]")
            }
            await server.stop(grace: .zero)
        }
    }

    @Test func `a new list of tokens leaves those alone whom the program has named`() async throws {
        let server = server(Self.asking) { $0.tokens = try? TokenList(parsing: "bob bob-0123456789abcdef") }
        let named = RPCClient(.inProcess(server, as: ann), .patient)
        let bob = RPCClient(.inProcess(server)) { $0.token = "bob-0123456789abcdef" }
        _ = try await (whoIs(named), whoIs(bob))
        server.reload(tokens: try TokenList(parsing: "eve eve-0123456789abcdef"))
        await until { server.counters.connectionsOpen == 1 }
        #expect(try await whoIs(named) == "ann [\"teller\"]")
        #expect(server.counters.connectionsAccepted >= 2)
        let error = await #expect(throws: RPCError.self) { _ = try await whoIs(bob) }
        #expect(error?.code == .unauthenticated)
        await server.stop(grace: .zero)
    }

    @Test func `limits are those of the server, and say their names`() async throws {
        let held = HeldGreeter()
        let server = server(GreeterProxy(held)) {
            ($0.limits.maximumConnections, $0.limits.maximumRequestsInAll) = (1, 2)
            $0.limits.maximumRequestsInFlight = 2
        }
        let client = RPCClient(.inProcess(server), .patient)
        let calls = (0..<2).map { number in Task { try await GreeterProxy(client).greet("\(number)") } }
        var events = held.events.makeAsyncIterator()
        for _ in calls { _ = await events.next() }
        let other = RPCClient(.inProcess(server), .patient)
        let refused = await #expect(throws: RPCError.self) { try await other.connect() }
        #expect(refused?.code == .unavailable && refused?.message.contains("(maximumConnections)") == true)
        #expect(server.counters.overruns["maximumConnections", default: 0] >= 1)
        other.close()
        for _ in calls { held.release() }
        for call in calls { _ = try await call.value }
        client.close()
        await server.stop()
        #expect(server.counters.requestsRunning == 0 && server.counters.connectionsOpen == 0)
    }

    @Test func `calls in all are counted together with those of other threads`() async throws {
        let held = HeldGreeter()
        let server = server(GreeterProxy(held)) { $0.limits.maximumRequestsInAll = 2 }
        let inside = RPCClient(.inProcess(server), .patient)
        let outside = RPCClient(try await server.reached(over: .socket), .patient)
        var events = held.events.makeAsyncIterator()
        var calls: [Task<String, any Error>] = []
        for client in [inside, outside] {
            calls.append(Task { try await GreeterProxy(client).greet("held") })
            _ = await events.next()
        }
        for client in [inside, outside] {
            let error = await #expect(throws: RPCError.self) { try await GreeterProxy(client).greet("too many") }
            #expect(error?.code == .busy && error?.message.contains("(maximumRequestsInAll)") == true)
        }
        for _ in calls { held.release() }
        for call in calls { _ = try await call.value }
        await server.stop(grace: .zero)
    }

    /// Row C32 of "What became of my call".
    @Test func `a server that was stopped is said so at once`() async throws {
        let server = server(Self.asking)
        let client = RPCClient(.inProcess(server), .patient)
        #expect(try await whoIs(client) == "nobody")
        await server.stop()
        for client in [client, RPCClient(.inProcess(server), .patient)] {
            let error = await #expect(throws: RPCError.self) { _ = try await whoIs(client) }
            #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
            #expect(error?.message.contains("the server in this process was stopped; make another one") == true)
        }
    }

    @Test func `an export that was refused is told by the first connection`() async throws {
        let server = server(Self.asking)
        server.export(Self.asking, named: "#1")
        let error = await #expect(throws: RPCError.self) {
            _ = try await whoIs(RPCClient(.inProcess(server), .patient))
        }
        #expect(error?.code == .unavailable && error?.message.contains("cannot serve in process: ") == true)
    }

    @Test func `clients keep their server, and nothing is left when they are gone`() async throws {
        final class Kept: Greeter {
            func greet(_ name: String) async throws -> String { name }
        }
        weak var server: RPCServer?
        weak var object: Kept?
        weak var requester: AnyObject?
        do {
            let client: RPCClient
            do {
                let made = RPCServer()
                let kept = Kept()
                made.export(GreeterProxy(kept))
                client = RPCClient(.inProcess(made, as: ann), .patient)
                (server, object, requester) = (made, kept, client.requester)
            }
            #expect(try await GreeterProxy(client).greet("still there") == "still there")
            #expect(server != nil)
        }
        // The connection ends on its loop, when its end has been read.
        await until { server == nil && object == nil && requester == nil }
        #expect(server == nil && object == nil && requester == nil)
    }

    @Test func `posts of a client that is let go arrive, although its server is let go too`() async throws {
        let counter = SharedCounter()
        do {
            let server = RPCServer()
            server.export(CounterProxy(counter))
            let client = RPCClient(.inProcess(server), .patient)
            for number in 0..<100 { CounterProxy(client).note("\(number)") }
        }
        try await until { try await counter.notes().count == 100 }
    }
}
