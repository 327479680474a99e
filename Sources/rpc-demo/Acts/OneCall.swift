// The first thing anybody does: make a proxy for an object in another process and call it.

import Protocols
import RemoteProxy

struct OneCall: Act {
    let client: RPCClient

    let title = "A call"
    let story = "The client knows a protocol and an address. The proxy does the rest."

    func play(on stage: Stage) async throws {
        let greeter: any Greeter = GreeterProxy(client)

        try await stage.show(#"try await greeter.greet("world")"#, expecting: "Hello, world!") {
            try await greeter.greet("world")
        }
        stage.says("The first call also made the connection. The second finds it there:")
        try await stage.show(#"try await greeter.greet("again")"#, expecting: "Hello, again!") {
            try await greeter.greet("again")
        }
    }
}
