// What a caller is told when something is there, but not what was expected.

import Faults
import Protocols
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
            try await withTimeout(.milliseconds(10)) { try await calculator.add(1, 2) }
        }
        client.close()
        _ = await earlier
        return try #require(error)
    }

    @Test(arguments: ["SSH-2.0-OpenSSH_9.6\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n", "220 mail.example ESMTP\r\n"])
    func `one of another protocol is said to be one`(banner: String) async throws {
        let server = try ScriptedServer { peer in
            try peer.send(Array(banner.utf8))
            try peer.fallSilent()
        }
        let error = try await error(from: server) { client in
            for await case .waiting in client.states { break }
        }
        #expect(error.code == .unavailable && error.outcome == .notExecuted)
        #expect(error.message.contains("does not answer as a server of this kind does: a message of "))
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
