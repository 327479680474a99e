// The protocol is all that code needs to know: remote object, local object and a test's fake look the same to it.

import Protocols
import RemoteProxy
import Subjects

struct SameProtocol: Act {
    let client: RPCClient

    let title = "Who is behind the protocol"
    let story = "`func welcome(_ name: String, by greeter: any Greeter)` cannot tell, and need not."

    func play(on stage: Stage) async throws {
        stage.says("An object on the server:")
        try await stage.show(#"try await welcome("Ada", by: GreeterProxy(client))"#, expecting: "Hello, Ada! Come in.")
        {
            try await welcome("Ada", by: GreeterProxy(client))
        }
        stage.says("A proxy for an object that is here; nothing is encoded:")
        try await stage.show(
            #"try await welcome("Ada", by: GreeterProxy(EnglishGreeter()))"#, expecting: "Hello, Ada! Come in."
        ) {
            try await welcome("Ada", by: GreeterProxy(EnglishGreeter()))
        }
        stage.says("A fake, as a test would pass it:")
        try await stage.show(#"try await welcome("Ada", by: Fake())"#, expecting: "Psst, Ada! Come in.") {
            try await welcome("Ada", by: Fake())
        }
    }

    private func welcome(_ name: String, by greeter: any Greeter) async throws -> String {
        try await greeter.greet(name) + " Come in."
    }
}

private struct Fake: Greeter {
    func greet(_ name: String) async throws -> String { "Psst, \(name)!" }
}
