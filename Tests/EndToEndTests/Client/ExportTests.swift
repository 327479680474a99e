// Exporting and taking back through the public names, over a connection.

import Protocols
import RPCServer
import RemoteProxy
import Subjects
import TestSupport
import Testing

import struct RPCSockets.Lock

@Service(name: "Greeter")
private protocol OtherGreeter: Sendable {
    func hello() async throws -> String
}

private struct Rival: OtherGreeter {
    func hello() async throws -> String { "hello" }
}

/// Greets with the help of its caller.
private struct AskingEcho: Echo {
    func text(_ text: String) async throws -> String {
        guard let caller = Caller.current else { return "nobody called" }
        return try await GreeterProxy(caller).greet(text)
    }
    func record(_ record: Record) async throws -> Record { record }
    func later(_ text: String, afterMilliseconds: Int) async throws -> String { text }
}

/// Notes the error with which its caller answers, and where that caller is.
private struct Noting: Echo {
    let noted: Lock<(error: RPCError?, address: String)>

    func text(_ text: String) async throws -> String {
        guard let caller = Caller.current else { return "nobody called" }
        do {
            return try await GreeterProxy(caller).greet(text)
        } catch {
            noted.withLock { $0 = (error as? RPCError, caller.address) }
            throw error
        }
    }
    func record(_ record: Record) async throws -> Record { record }
    func later(_ text: String, afterMilliseconds: Int) async throws -> String { text }
}

/// Shows its caller as a failing expectation would.
private struct ShowingEcho: Echo {
    func text(_ text: String) async throws -> String {
        guard let caller = Caller.current else { return "nobody called" }
        var shown = ""
        dump(caller, to: &shown)
        return shown
    }
    func record(_ record: Record) async throws -> Record { record }
    func later(_ text: String, afterMilliseconds: Int) async throws -> String { text }
}

@Suite(.waitsForOthers) struct Exporting {
    private let lines = Lock<[String]>([])

    private var server: RPCServer {
        var configuration = RPCServer.Configuration()
        configuration.log = { [lines] line in lines.withLock { $0.append(line.message) } }
        let server = RPCServer(configuration)
        server.export(GreeterProxy(EnglishGreeter()))
        return server
    }

    @Test func `a server that was given two protocols of the same name does not begin to serve`() async throws {
        let server = server
        server.export(OtherGreeterProxy(Rival()))
        let error = await #expect(throws: RPCServer.ListenError.self) { try await server.run(on: "tcp://127.0.0.1:0") }
        #expect(error?.description.hasPrefix("cannot serve tcp://127.0.0.1:0: Greeter is not exported: ") == true)
        #expect(lines.withLock { $0 }.filter { $0.contains("have the same name on the wire") }.count == 1)
    }

    /// Row C20 of "What became of my call".
    @Test func `an error says which end has not exported an object, and where that end is`() async throws {
        let server = server
        let noted = Lock<(error: RPCError?, address: String)>((nil, ""))
        server.export(EchoProxy(Noting(noted: noted)))
        let url = try await server.listen(on: "tcp://127.0.0.1:0")
        let client = RPCClient(url, .patient)
        let error = await #expect(throws: RPCError.self) { try await CounterProxy(client).next() }
        #expect(error?.code == .noSuchObject && error?.outcome == .notExecuted)
        let text = "there is no object Counter; the server has not exported it (server.export(…)); exported: "
        #expect(error?.message == text + "Greeter, Echo")
        #expect(error?.method == "Counter.next" && error?.peer == "\(url)")
        #expect(error?.description.contains(": the answer of \(url) (") == true)

        _ = await #expect(throws: RPCError.self) { try await EchoProxy(client).text("x") }
        let (callback, address) = noted.withLock { $0 }
        #expect(callback?.code == .noSuchObject)
        #expect(
            callback?.message
                == "there is no object Greeter; the client has not exported it (client.export(…)); nothing is exported"
        )
        #expect(address.hasPrefix("tcp://127.0.0.1:") && address != "\(url)")
        #expect(callback?.description.contains(": the answer of \(address) (") == true)
        client.close()
        await server.stop(grace: .zero)
    }

    @Test func `run logs where the server listens`() async throws {
        let server = server
        let running = Task { try await server.run(on: "tcp://127.0.0.1:0", "tcp://[::1]:0") }
        await until { lines.withLock { $0.count } == 2 }
        await server.stop(grace: .zero)
        try await running.value
        let logged = lines.withLock { $0 }
        #expect(
            logged[0].hasPrefix("listening on tcp://127.0.0.1:") && logged[1].hasPrefix("listening on tcp://[::1]:"))
        #expect(logged.allSatisfy { !$0.hasSuffix(":0") })
    }

    @Test(arguments: Medium.allCases)
    func `a server that serves already keeps what it has`(over medium: Medium) async throws {
        let server = server
        let client = RPCClient(try await server.reached(over: medium), .patient)
        try await client.connect()
        server.export(OtherGreeterProxy(Rival()), named: "rival")
        server.export(GreeterProxy(EnglishGreeter()), named: "#1")
        #expect(lines.withLock { $0.count } == 2)
        try #require(await GreeterProxy(client).greet("you") == "Hello, you!")
        try await server.listen(on: "tcp://127.0.0.1:0")
        await server.stop(grace: .zero)
    }

    @Test(arguments: Medium.allCases)
    func `a server takes back what it has exported`(over medium: Medium) async throws {
        let server = server
        let registration = server.export(GreeterProxy(EnglishGreeter()), named: "other")
        let client = RPCClient(try await server.reached(over: medium), .patient)
        let greeter = GreeterProxy(client, named: "other")
        try #require(await greeter.greet("you") == "Hello, you!")
        for _ in 1...2 { registration.cancel() }
        let error = await #expect(throws: RPCError.self) { try await greeter.greet("you") }
        #expect(error?.code == .noSuchObject && error?.outcome == .notExecuted)
        // The child is all that such a client knows of its server.
        #expect(error?.peer?.hasPrefix("exec://") == (medium == .child))
        try #require(await GreeterProxy(client).greet("you") == "Hello, you!")
        await server.stop(grace: .zero)
    }

    @Test(arguments: Medium.allCases)
    func `a client takes back what it has exported, and keeps what it had when names clash`(over medium: Medium)
        async throws
    {
        try await withServer(over: medium, exporting: [EchoProxy(AskingEcho())]) { url in
            var configuration = RPCClient.Configuration.patient
            configuration.log = { [lines] line in lines.withLock { $0.append(line.message) } }
            let client = RPCClient(url, configuration)
            let registration = client.export(GreeterProxy(EnglishGreeter()))
            let refused = client.export(OtherGreeterProxy(Rival()))
            #expect(registration.refusal == nil && refused.refusal?.contains("have the same name on the wire") == true)
            refused.cancel()
            #expect(lines.withLock { $0 }.filter { $0.contains("have the same name on the wire") }.count == 1)
            try #require(await EchoProxy(client).text("you") == "Hello, you!")
            registration.cancel()
            let error = await #expect(throws: RPCError.self) { try await EchoProxy(client).text("you") }
            #expect(error?.code == .noSuchObject)
        }
    }

    /// A failing expectation of Swift Testing looks into all values that it compares, and so does `dump`.
    @Test(arguments: Medium.allCases)
    func `ends, clients, callers and proxies can be dumped while they work`(over medium: Medium) async throws {
        let server = RPCServer()
        let transport = try await server.reached(over: medium)
        server.export(EchoProxy(ShowingEcho()))
        let client = RPCClient(transport)
        let echo = EchoProxy(client)
        let caller = try await echo.text("")
        #expect(caller.contains("Caller") && caller.contains(medium.addressOfClients))
        let cache = Cache.memory
        let (unbound, binding) = EchoProxy.unbound()
        let values: [Any] = [
            server, client, cache, binding, unbound, echo, echo.locked(), echo.cached(in: cache),
            echo.guarded(by: .nobody),
            echo.retrying(), echo.observed { _ in }, EchoProxy(ShowingEcho()), EchoProxy.lazy { ShowingEcho() },
            EchoProxy.counted { ShowingEcho() }, Multicast<CounterProxy>(),
        ]
        for value in values {
            var shown = ""
            dump(value, to: &shown)
            // One line, or one more for what is shown.
            #expect(shown.split(separator: "\n").count <= 2)
        }
        await server.stop()
    }
}
