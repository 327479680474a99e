// How a server ends: what runs may finish, what does not is cut off, and everybody who waits is told.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Stopping` {
    private func serve(_ greeter: any Greeter, over medium: Medium) async throws -> (server: RPCServer, url: Transport)
    {
        let server = RPCServer()
        server.export(GreeterProxy(greeter))
        return (server, try await server.reached(over: medium))
    }

    private func serve(_ greeter: any Greeter) async throws -> (server: RPCServer, url: Endpoint) {
        let server = RPCServer()
        server.export(GreeterProxy(greeter))
        return (server, try await server.listen(on: "tcp://127.0.0.1:0"))
    }

    /// Row C16 of "What became of my call".
    @Test(arguments: Medium.allCases)
    func `stop lets the running call finish`(over medium: Medium) async throws {
        let held = HeldGreeter()
        let (server, url) = try await serve(held, over: medium)
        let client = RPCClient(url, .patient)
        async let answer = GreeterProxy(client).greet("slow")
        _ = await held.events.first { $0 == .began("slow") }
        // However slow the machine: what is tested is the order.
        async let stopped: Void = server.stop(grace: .seconds(3_600))
        // The client is told that the server leaves while its call still runs.
        _ = await client.states.first { state in if case .connected = state { false } else { true } }
        held.release()
        #expect(try await answer == "Hello at last, slow!")
        await stopped
        #expect(server.counters.connectionsOpen == 0)
        client.close()
    }

    @Test(arguments: Medium.allCases)
    func `a call still running after the grace time is cancelled and its outcome unknown`(over medium: Medium)
        async throws
    {
        let held = HeldGreeter()
        let (server, url) = try await serve(held, over: medium)
        let client = RPCClient(url, .patient)
        let answer = Task { try await GreeterProxy(client).greet("endless") }
        _ = await held.events.first { $0 == .began("endless") }
        await server.stop(grace: .zero)
        #expect(await held.events.first { _ in true } == .cancelled("endless"))
        let error = await #expect(throws: RPCError.self) { try await answer.value }
        #expect(error?.code == .connectionLost)
        #expect(error?.outcome == .unknown)
        #expect(server.counters.overruns == ["stopGrace": 1])
        client.close()
    }

    /// Its session could outlive the connection, but not the server.
    @Test(arguments: [true, false])
    func `a call whose connection is lost is cancelled, before the server stops or while it does`(isLostBefore: Bool)
        async throws
    {
        let held = HeldGreeter()
        let (server, url) = try await serve(held)
        let endpoint = try url.destination().socket()
        let stream = Lock<(any ByteChannel)?>(nil)
        // Connects once, and never again.
        let dialer = Dialer(loop: EventLoop.shared) { done in
            guard stream.withLock({ $0 == nil }) else { return {} }
            let connector = Connector.connect(to: endpoint, on: .shared, timeout: .seconds(60)) { result in
                if case .success(let made) = result { stream.withLock { $0 = made } }
                done(result.map { $0 })
            }
            return { connector.cancel() }
        }
        let client = RPCClient(dialer, .patient)
        let answer = Task { try await GreeterProxy(client).greet("endless") }
        _ = await held.events.first { $0 == .began("endless") }
        if isLostBefore {
            stream.withLock { $0 }?.abort()
            await until { server.counters.connectionsOpen == 0 }
            await server.stop(grace: .seconds(3_600))
        } else {
            async let stopped: Void = server.stop(grace: .seconds(3_600))
            _ = await client.states.first { state in if case .connected = state { false } else { true } }
            stream.withLock { $0 }?.abort()
            await stopped
        }
        #expect(await held.events.first { _ in true } == .cancelled("endless"))
        client.close()
        await #expect(throws: RPCError.self) { try await answer.value }
    }

    @Test(arguments: Medium.allCases)
    func `a second stop with less grace ends the first one's wait`(over medium: Medium) async throws {
        let held = HeldGreeter()
        let (server, url) = try await serve(held, over: medium)
        let client = RPCClient(url, .patient)
        let answer = Task { try await GreeterProxy(client).greet("endless") }
        _ = await held.events.first { $0 == .began("endless") }
        async let patient: Void = server.stop(grace: .seconds(3_600))
        await server.stop(grace: .zero)
        await patient
        await #expect(throws: RPCError.self) { try await answer.value }
        client.close()
    }

    @Test func `run ends when its task is cancelled`() async throws {
        let (server, url) = try await serve(EnglishGreeter())
        let client = RPCClient(url, .patient)
        #expect(try await GreeterProxy(client).greet("you") == "Hello, you!")
        let running = Task { try await server.run(on: "tcp://127.0.0.1:0") }
        running.cancel()
        try await running.value
        #expect(server.counters.connectionsOpen == 0)
        await #expect(throws: RPCError.self) { try await server.listen(on: "tcp://127.0.0.1:0") }
        client.close()
    }

    @Test func `everybody who waits for the end is told, before and after`() async throws {
        let (server, _) = try await serve(EnglishGreeter())
        async let run: Void = server.run(on: "tcp://127.0.0.1:0")
        async let wait: Void = server.waitUntilStopped()
        await server.stop()
        try? await run
        await wait
        await server.waitUntilStopped()
        await server.stop()
    }

    @Test func `a server that nobody holds any more lets its address go`() async throws {
        let folder = TemporaryFolder()
        let url = try Endpoint("unix://\(folder.path)/socket")
        var server: RPCServer? = RPCServer()
        try await server?.listen(on: url)
        server = nil
        // The listener closes on its own thread: until it has, the address is refused.
        let next = RPCServer()
        try await until {
            do {
                try await next.listen(on: url)
                return true
            } catch let error as RPCServer.ListenError where error.description.contains("EADDRINUSE") {
                return false
            }
        }
        await next.stop()
    }
}
