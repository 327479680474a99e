// What no caller gets to hear is told to somebody, whether a log was set or not.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct Logs {
    private struct Failure: Error { let path = "/etc/private" }

    private struct FailingGreeter: Greeter {
        func greet(_ name: String) async throws -> String { throw Failure() }
    }

    /// In a process of its own, whose standard error is read.
    @Test func `nobody has to set one to be told`() async throws {
        let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let server = RPCServer()
            server.export(GreeterProxy(FailingGreeter()))
            let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"))
            _ = try? await GreeterProxy(client).greet("you")
            client.close()
            CounterProxy(client).note("lost")
            await server.stop(grace: .zero)
        }
        let lines = String(decoding: result.standardErrorContent, as: UTF8.self).split(separator: "\n")
        let beginning = "RemoteProxy: Greeter.greet threw an undeclared error"
        let undeclared = try #require(lines.first { $0.hasPrefix(beginning) })
        #expect(undeclared.contains("/etc/private"))
        #expect(undeclared.hasSuffix("callers get it if @Service(errors:) lists Failure"))
        #expect(
            lines.contains(
                "RemoteProxy: the post Counter.note was not sent: the client was closed (-32053, notExecuted)"))
    }

    @Test func `a client writes no more lines than it may`() {
        let lines = Lock<[String]>([])
        var configuration = RPCClient.Configuration.patient
        configuration.limits.maximumLogLines = 2
        configuration.maximumFrameSize = 256
        configuration.log = { line in lines.withLock { $0.append(line.message) } }
        let client = RPCClient("tcp://127.0.0.1:1", configuration)
        for _ in 0..<5 { CounterProxy(client).note(String(repeating: "too long ", count: 100)) }
        #expect(lines.withLock { $0.count } == 2)
    }
}
