// Messages of many mebibytes through a real server: a raised limit allows more, and what is too much for the server is
// refused by the name of its limit before it is sent.

import Protocols
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Large messages` {
    /// Takes a second or two where nothing is optimised: it has to be more than is allowed by default.
    @Test(arguments: Medium.withTLS)
    func `what is too large by default goes there and back when both ends allow more`(over medium: Medium) async throws
    {
        let size = RPCClient.Configuration().maximumFrameSize + 1
        var (server, client) = (RPCServer.Configuration.quiet, RPCClient.Configuration.patient)
        (server.limits.maximumFrameSize, client.maximumFrameSize) = (2 * size, 2 * size)
        try await withServer(over: medium, server) { url in
            let text = String(repeating: "x", count: size)
            try #require(await EchoProxy(RPCClient(url, client)).text(text) == text)
        }
    }

    /// The first call is made before anybody knows what the server allows.
    @Test(arguments: Medium.withTLS)
    func `what is too large for the server is refused by name, the call that opens the connection too`(
        over medium: Medium
    )
        async throws
    {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumFrameSize = 100_000
        try await withServer(over: medium, configuration) { url in
            let echo = EchoProxy(RPCClient(url, .patient))
            let text = String(repeating: "x", count: 100_000)
            for _ in 0..<2 {
                let error = try await #require(throws: RPCError.self) { try await echo.text(text) }
                #expect(error.code == .requestTooLarge && error.outcome == .notExecuted)
                #expect(error.message.contains("a message may have 100000 (maximumFrameSize)"))
            }
            try #require(await echo.text("small") == "small")
        }
    }
}
