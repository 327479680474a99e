// A server ends in the middle of a call. Nobody can know then how far the work went, and the error says so.

import Protocols
import RPCServer
import RemoteProxy

struct ServerCrash: Act {
    let title = "A server that ends in the middle of a call"
    let story = """
        Again with a server of its own. Running the call a second time might do the work twice, so
        the library does not: the error says that the outcome is unknown, and the caller decides.
        """

    func play(on stage: Stage) async throws {
        let server = RPCServer()
        server.export(GreeterProxy(FatalGreeter(server: server)))
        let url = try await server.listen(on: "tcp://127.0.0.1:0")

        let client = RPCClient(url)
        let greeter: any Greeter = GreeterProxy(client)
        try await stage.show(#"try await greeter.greet("Brutus")"#, throwing: .rpc(.connectionLost, .unknown)) {
            try await greeter.greet("Brutus")
        }
        client.close()
        await server.stop()
    }
}

/// Ends the server that it lives in before it has answered.
private struct FatalGreeter: Greeter {
    weak let server: RPCServer?

    func greet(_ name: String) async throws -> String {
        await server?.stop(grace: .zero)
        return "Et tu, \(name)?"
    }
}
