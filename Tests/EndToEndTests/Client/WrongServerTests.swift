// What a caller is told when something is there, but not what was expected.

import Faults
import Protocols
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Wrong servers` {
    /// What a call is told once something has happened that an earlier one has caused.
    private func error(
        from server: ScriptedServer, after event: @escaping @Sendable (RPCClient) async -> Void
    ) async throws -> RPCError {
        let client = RPCClient(server.url, .eager)
        let calculator = CalculatorProxy(client)
        async let earlier = try? calculator.add(1, 2)
        await event(client)
        let error = await #expect(throws: RPCError.self) {
            try await withCallTimeout(.milliseconds(10)) { try await calculator.add(1, 2) }
        }
        client.close()
        _ = await earlier
        return try #require(error)
    }

    /// Row C3 of "What became of my call".
    @Test(
        arguments: [
            ("SSH-2.0-OpenSSH_9.6\r\n", #""SSH-2.0-OpenSSH_9.6\r\n""#),
            (
                "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
                #""HTTP/1.1 400 Bad Request\r\nConnection: cl…""#
            ),
            ("220 mail.example ESMTP\r\n", #""220 mail.example ESMTP\r\n""#),
        ], [RPCClient.Configuration.Framing.lengthPrefixed, .lines])
    func `one of another protocol is named to calls that wait, and in the log`(
        _ banner: (sent: String, shown: String), _ framing: RPCClient.Configuration.Framing
    ) async throws {
        let server = try ScriptedServer { peer in
            try peer.send(Array(banner.sent.utf8))
            while true { _ = try peer.hearText("\n") }
        }
        let (lines, line) = AsyncStream<String>.makeStream()
        var configuration = RPCClient.Configuration.patient
        configuration.peer = .jsonRPC(framing)
        configuration.saysHello = true
        configuration.log = { line.yield($0.message) }
        let client = RPCClient(server.url, configuration)
        let fault = "\(server.url) does not answer as a server of this kind does: it began with "
        let first = await #expect(throws: RPCError.self) { try await CalculatorProxy(client).add(1, 2) }
        let second = await #expect(throws: RPCError.self) { try await client.connect() }
        for error in [first, second] {
            #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
            #expect(error?.message.contains(fault + (framing == .lines ? "" : banner.shown)) == true)
        }
        let logged = await lines.first { _ in true }
        #expect(logged?.hasPrefix("cannot connect, trying again: \(fault)") == true)
        client.close()
    }

    @Test func `one of another protocol that waits for a line is told from one that is slow`() async throws {
        let server = try ScriptedServer { peer in
            _ = try peer.hearText("\n")
            try peer.sayText("HTTP/1.1 400 Bad Request\r\n\r\n")
            try peer.fallSilent()
        }
        let client = RPCClient(server.url, .patient)
        let error = await #expect(throws: RPCError.self) { try await CalculatorProxy(client).add(1, 2) }
        #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
        #expect(error?.message.contains("which is no length of a message (RPCClient.Configuration.peer)") == true)
        client.close()
    }

    /// As a port that takes only TLS does.
    @Test func `one that cannot read the greeting is quoted to calls that wait`() async throws {
        let server = try ScriptedServer { peer in
            _ = try peer.hearText("\n")
            try peer.sayText(
                #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"say it in another way"}}"# + "\n")
        }
        var configuration = RPCClient.Configuration.patient
        configuration.peer = .jsonRPC(.lines)
        configuration.saysHello = true
        let client = RPCClient(server.url, configuration)
        let first = await #expect(throws: RPCError.self) { try await CalculatorProxy(client).add(1, 2) }
        let second = await #expect(throws: RPCError.self) { try await client.connect() }
        for error in [first, second] {
            #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
            #expect(error?.message.contains("\(server.url) does not take the greeting: say it in another way") == true)
        }
        client.close()
    }

    @Test func `one that breaks off the greeting is named`() async throws {
        let server = try ScriptedServer { _ in }
        let client = RPCClient(server.url, .patient)
        let error = await #expect(throws: RPCError.self) { try await client.connect() }
        #expect(error?.message.contains("\(server.url)") == true)
        client.close()
    }

    /// Row C3 of "What became of my call".
    @Test func `a name that does not exist is told to calls that wait`() async throws {
        let client = RPCClient("tcp://no..name:70", .patient)
        let error = await #expect(throws: RPCError.self) { try await CalculatorProxy(client).add(1, 2) }
        #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
        #expect(error?.message.contains(#"tcp://no..name:70: the name "no..name" has no address: "#) == true)
        client.close()
    }

    @Test func `one that does not know the token is told to those who connect`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.tokens = try TokenList(parsing: "ada guest a-secret-for-this-test")
        try await withServer("tcp://127.0.0.1:0", configuration) { url in
            let client = RPCClient(url, .patient)
            let error = await #expect(throws: RPCError.self) { try await client.connect() }
            #expect(error?.code == .unauthenticated && error?.outcome == .notExecuted)
            #expect(error?.message.contains("\(url) admits no caller without a token") == true)
            client.close()
        }
    }

    @Test func `one that says nothing is said to say nothing`() async throws {
        let (greetings, greeted) = AsyncStream<Void>.makeStream()
        let server = try ScriptedServer { peer in
            _ = try peer.hear()
            greeted.yield()
            try peer.fallSilent()
        }
        let error = try await error(from: server) { _ in for await _ in greetings { break } }
        #expect(error.code == .unavailable && error.outcome == .notExecuted)
        #expect(error.message.hasSuffix("has taken the connection and not answered the greeting"))
    }
}
