// Servers that go away and come back under a client.

import Protocols
import RPCServer
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Reconnecting` {
    /// A path and not a port: a port that has been let go may be somebody else's the next moment.
    private func unusedAddress() throws -> Endpoint {
        try Endpoint("unix:///tmp/rpc-\(UInt64.random(in: .min ... .max))")
    }

    @Test func `a client that was first finds the server when it comes`() async throws {
        let url = try unusedAddress()
        let greeter = GreeterProxy(RPCClient(url, .eager))
        let greeting = Task { try await greeter.greet("early bird") }
        try await withServer(url) { _ in
            try #require(await greeting.value == "Hello, early bird!")
        }
    }

    @Test func `a restarted server is found again without a word to the caller`() async throws {
        let client: RPCClient
        let url: Endpoint
        // With no grace at all a call may be sent before the client has heard that the server leaves, and be lost.
        (client, url) = try await withServer(unusedAddress(), grace: .seconds(10)) { url in
            let client = RPCClient(url, .eager)
            try #require(await CalculatorProxy(client).add(1, 2) == 3)
            return (client, url)
        }
        for round in 0..<5 {
            try await withServer(url, grace: .seconds(10)) { _ in
                try #require(await CalculatorProxy(client).add(round, 2) == round + 2)
            }
        }
    }

    @Test func `states are told in order, from idle to closed`() async throws {
        let client = try await withServer { url in
            let client = RPCClient(url, .eager)
            var states = client.states.makeAsyncIterator()
            #expect(await states.next(isolation: nil) == .idle)
            _ = try await GreeterProxy(client).greet("x")
            #expect(await states.next(isolation: nil) == .connecting)
            #expect(await states.next(isolation: nil) == .connected(resumed: false))
            return client
        }
        for await state in client.states {
            if case .waiting(let until, let why) = state {
                #expect(until <= .now + .seconds(1))
                #expect(why.code == .unavailable)
                break
            }
        }
        client.close()
        var last: RPCClient.State?
        for await state in client.states { last = state }
        #expect(last == .closed)
    }

    @Test func `closing while waiting for a server ends the call at once`() async throws {
        let url = try unusedAddress()
        var configuration = RPCClient.Configuration.patient
        configuration.reconnect = Backoff(initial: .seconds(3_600), maximum: .seconds(3_600))
        let client = RPCClient(url, configuration)
        let call = Task { try await GreeterProxy(client).greet("x") }
        for await state in client.states {
            if case .waiting = state { break }
        }
        client.close()
        let error = await #expect(throws: RPCError.self) { try await call.value }
        #expect(error?.code == .closed)
        #expect(error?.outcome == .notExecuted)
    }

    @Test(arguments: Medium.withTLS)
    func `what a client has posted arrives, however soon afterwards it is closed or let go`(over medium: Medium)
        async throws
    {
        let counter = SharedCounter()
        try await withServer(over: medium, exporting: [CounterProxy(counter)]) { url in
            let client = RPCClient(url, .patient)
            for number in 0..<300 { CounterProxy(client).note("closed \(number)") }
            client.close()
            try await until { try await counter.notes().count == 300 }
            do {
                let dropped = CounterProxy(RPCClient(url, .patient))
                for number in 0..<300 { dropped.note("let go \(number)") }
            }
            try await until { try await counter.notes().count == 600 }
            let finished = RPCClient(url, .patient)
            for number in 0..<300 { CounterProxy(finished).note("finished \(number)") }
            #expect(await finished.close(grace: .seconds(2)) == 0)
            try await until { try await counter.notes().count == 900 }
        }
        let expected = ["closed", "let go", "finished"].flatMap { name in (0..<300).map { "\(name) \($0)" } }
        #expect(try await counter.notes() == expected)
    }

    @Test func `a client that nobody holds any more leaves its server`() async throws {
        let server = RPCServer()
        for proxy in samples() { server.export(proxy) }
        let url = try await server.listen(on: "tcp://127.0.0.1:0")
        do {
            let client = RPCClient(url, .patient)
            _ = try await GreeterProxy(client).greet("x")
            #expect(server.counters.connectionsOpen == 1)
        }
        // A drain waits for every connection to end: it returns before tomorrow only because this one has gone.
        await server.stop(grace: .seconds(86_400))
        #expect(server.counters.connectionsOpen == 0)
    }
}
