// A server on a free port for as long as a test needs it.

import Protocols
import RPCServer
import RemoteProxy
import Subjects
import TestSupport

/// Runs `body` with the URL of a server that hosts the sample services, and stops the server afterwards.
func withServer<Result>(
    _ url: Endpoint = "tcp://127.0.0.1:0", _ configuration: RPCServer.Configuration = .quiet,
    exporting proxies: [any ServiceProxy] = samples(), named name: String? = nil, grace: Duration = .zero,
    _ body: (Endpoint) async throws -> Result
) async throws -> Result {
    let server = RPCServer(configuration)
    for proxy in proxies { server.export(proxy, named: name) }
    let bound = try await server.listen(on: url)
    do {
        let result = try await body(bound)
        await server.stop(grace: grace)
        return result
    } catch {
        await server.stop(grace: grace)
        throw error
    }
}

extension RPCServer.Configuration {
    /// The defaults of a server that logs nothing: what a test does to it is no news.
    static var quiet: RPCServer.Configuration {
        var configuration = RPCServer.Configuration()
        configuration.log = { _ in }
        return configuration
    }
}

/// The sample services, each around an object of its own.
func samples() -> [any ServiceProxy] {
    [
        CalculatorProxy(CheckedCalculator()), GreeterProxy(EnglishGreeter()), EchoProxy(PlainEcho()),
        CounterProxy(SharedCounter()),
    ]
}

extension RPCClient.Configuration {
    /// Comes back fast, so that tests do.
    static var eager: RPCClient.Configuration {
        var configuration = RPCClient.Configuration.patient
        configuration.reconnect = Backoff(initial: .milliseconds(2), maximum: .milliseconds(20))
        return configuration
    }
}
