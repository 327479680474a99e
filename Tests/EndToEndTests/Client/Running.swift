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
    try await withServer(configuration, exporting: proxies, named: name, grace: grace) { server in
        try await body(try await server.listen(on: url))
    }
}

/// Does the same, and gives the body what clients reach the server by.
func withServer<Result>(
    over medium: Medium, _ configuration: RPCServer.Configuration = .quiet,
    exporting proxies: [any ServiceProxy] = samples(), named name: String? = nil, grace: Duration = .zero,
    _ body: (Transport) async throws -> Result
) async throws -> Result {
    var configuration = configuration
    if medium == .tls { configuration.tls = TLS(certificate: Medium.certificate) }
    return try await withServer(configuration, exporting: proxies, named: name, grace: grace) { server in
        try await body(try await server.reached(over: medium))
    }
}

private func withServer<Result>(
    _ configuration: RPCServer.Configuration, exporting proxies: [any ServiceProxy], named name: String?,
    grace: Duration,
    _ body: (RPCServer) async throws -> Result
) async throws -> Result {
    let server = RPCServer(configuration)
    for proxy in proxies { server.export(proxy, named: name) }
    do {
        let result = try await body(server)
        await server.stop(grace: grace)
        return result
    } catch {
        await server.stop(grace: grace)
        throw error
    }
}

extension RPCServer {
    /// How clients reach this server. It listens on a free port if that is over sockets.
    func reached(over medium: Medium) async throws -> Transport {
        switch medium {
        case .socket: .socket(try await listen(on: "tcp://127.0.0.1:0"))
        case .memory: .inProcess(self)
        case .child:
            .process(
                try ChildProcess.built("rpc-server"), ["attach", "\(try await listen(on: Medium.placeForChildren))"])
        // The address has the pin of the key.
        case .tls: .socket(try await listen(on: "tls://127.0.0.1:0"))
        }
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
