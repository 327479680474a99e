// The names that belong to the protocol: cancellation, discovery, and what nobody has defined.

import Foundation
import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `System methods` {
    private static func later(_ id: String) -> String {
        #"{"jsonrpc":"2.0","method":"Echo.later","params":["late",60000],"id":\#(id)}"#
    }

    private static func cancel(_ id: String, name: String = "$/cancelRequest") -> String {
        #"{"jsonrpc":"2.0","method":"\#(name)","params":{"id":\#(id)}}"#
    }

    @Test(arguments: ["1", "\"1\"", "null", "1.50", "\"\\u0061\""])
    func `a cancelled call is still answered, as cancelled`(id: String) async throws {
        try await withWire { url in
            let client = try RawClient(url)
            client.say(Self.later(id))
            client.say(Self.cancel(id))
            let answer = try client.hear()
            #expect(try brief(answer).hasSuffix("!-32800"), "\(answer ?? "")")
        }
    }

    @Test func `the method's name may have its slash escaped`() async throws {
        try await withWire { url in
            let client = try RawClient(url, .headers)
            client.say(Self.later("7"))
            client.say(Self.cancel("7", name: #"$\/cancelRequest"#))
            #expect(try brief(client.hear()) == "7!-32800")
        }
    }

    @Test func `a cancellation in the same bytes as its call stops it before it begins`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            client.send(client.framing.frame(Self.later("1")) + client.framing.frame(Self.cancel("1")))
            #expect(try brief(client.hear()) == "1!-32800")
        }
    }

    @Test func `only the named call is cancelled, whatever else is named`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            client.say(Self.later("1"))
            client.say(Self.later("2"))
            for other in ["3", "\"1\"", "\"2\"", "1.5", "null", "[]", "{}"] { client.say(Self.cancel(other)) }
            client.say(#"{"jsonrpc":"2.0","method":"$/cancelRequest"}"#)
            client.say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":[1]}"#)
            #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"Counter.value","id":4}"#)) == "4=0")
            client.say(Self.cancel("2"))
            #expect(try brief(client.hear()) == "2!-32800")
            // Again, when it has already been answered.
            client.say(Self.cancel("2"))
            client.say(Self.cancel("1"))
            #expect(try brief(client.hear()) == "1!-32800")
        }
    }

    @Test func `a cancellation that asks for an answer gets one`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let call = #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":99},"id":1}"#
            #expect(try client.ask(call) == #"{"jsonrpc":"2.0","id":1,"result":null}"#)
        }
    }

    @Test func `unknown notifications of the protocol are ignored and requests answered`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            for name in ["$/progress", "$/setTrace", "$/", "rpc.", "rpc.other", "rpc.on"] {
                client.say(#"{"jsonrpc":"2.0","method":"\#(name)","params":{"value":1}}"#)
                #expect(
                    try brief(client.ask(#"{"jsonrpc":"2.0","method":"\#(name)","id":1}"#)) == "1!-32601", "\(name)")
            }
        }
    }

    @Test func `a foreign client may send a timeout, and members that mean something else to it`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let call = #"{"jsonrpc":"2.0","method":"Echo.later","params":["late",86400000],"timeout":250,"id":1}"#
            #expect(try brief(client.ask(call)) == "1!-32052")
            let odd = #"{"jsonrpc":"2.0","method":"Counter.value","timeout":"soon","trace":{},"id":2}"#
            #expect(try client.ask(odd) == #"{"jsonrpc":"2.0","id":2,"result":0}"#)
        }
    }

    @Test func `discovery names the program, and makes up no version`() async throws {
        func info(_ configuration: RPCServer.Configuration) async throws -> String? {
            try await withServer("tcp://127.0.0.1:0", configuration, exporting: []) { url in
                try await blocking { try RawClient(url).ask(#"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#) }
                    .get()
            }
        }
        var configuration = RPCServer.Configuration.quiet
        let own = try #require(CommandLine.arguments.first?.split(separator: "/").last)
        #expect(try await info(configuration)?.contains(#""title":"\#(own)","version":"0.2.0""#) == true)
        configuration.programName = "shop"
        configuration.programVersion = "2.1"
        #expect(try await info(configuration)?.contains(#""title":"shop","version":"2.1""#) == true)
    }

    @Test func `discovery answers an OpenRPC document of the live exports`() async throws {
        struct Reply: Decodable {
            struct Document: Decodable {
                struct Info: Decodable { let title, version: String }
                struct Content: Decodable {
                    struct Schema: Decodable { let type: String? }
                    let name: String
                    let required: Bool?
                    let schema: Schema
                }
                struct Method: Decodable {
                    let name: String
                    let params: [Content]
                    let result: Content?
                }
                let openrpc: String
                let info: Info
                let methods: [Method]
            }
            let result: Document
        }
        try await withWire { url in
            let text = try #require(try RawClient(url).ask(#"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#))
            let document = try JSONDecoder().decode(Reply.self, from: Data(text.utf8)).result
            // The first version in which a method may have no result.
            #expect(document.openrpc == "1.3.2")
            let names = document.methods.map(\.name)
            #expect(Set(names).count == names.count && names.contains("Greeter.greet"))
            #expect(document.methods.filter { $0.result == nil }.map(\.name) == ["Counter.note"])
            let divide = try #require(document.methods.first { $0.name == "Calculator.divide" })
            #expect(divide.params.map(\.name) == ["dividend", "divisor"])
            #expect(divide.params.allSatisfy { $0.required == true && $0.schema.type == "integer" })
            #expect(divide.result?.schema.type == "integer")
        }
    }

    @Test(arguments: [
        (#"{"timeout":1.5}"#, "at .timeout: "), (#"{"timeout":-1}"#, "at .timeout: it is below zero"),
        (#"{"protocol":"1"}"#, "at .protocol: "), (#"{"token":7}"#, "at .token: "),
        (#"{"resume":{"session":""}}"#, "at .resume: the member 'received' is missing"),
    ])
    func `a hello that cannot be understood is told why`(params: String, why: String) async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let answer = try client.ask(#"{"jsonrpc":"2.0","method":"rpc.hello","params":\#(params),"id":0}"#)
            #expect(try brief(answer) == "0!-32602")
            #expect(answer?.contains("rpc.hello was called with wrong parameters: \(why)") == true)
            #expect(try client.ask(Said.hello)?.contains(#""session":"#) == true)
        }
    }

    @Test(arguments: ["rpc.hello", "rpc.authenticate", "rpc.hold"])
    func `what is said to the protocol itself has so many bytes at most`(method: String) async throws {
        try await withWire { url in
            let params = #"{"name":"~a","token":"\#(String(repeating: "x", count: 20_000))"}"#
            let client = try RawClient(url)
            let answer = try client.ask(#"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"id":0}"#)
            #expect(try brief(answer) == "0!-32602")
            let why = "\(method) was called with wrong parameters: they have more than 16384 bytes"
            #expect(answer?.contains(why) == true)
        }
    }

    @Test func `where nobody has to log in, a login that cannot be understood is told why`() async throws {
        try await withWire { url in
            let answer = try RawClient(url).ask(#"{"jsonrpc":"2.0","method":"rpc.authenticate","id":1}"#)
            #expect(try brief(answer) == "1!-32602")
            #expect(answer?.contains("the member 'token' is missing") == true)
        }
    }

    @Test func `a batch in a session is answered also when it says again what still runs`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            client.say(Said.hello)
            _ = try client.hear()
            client.say(Said.later(60_000, id: 1))
            client.say("[\(Said.later(60_000, id: 1)),\(Said.value.replacing("1}", with: "2}"))]")
            #expect(try brief(client.hear()) == "[1!-32600, 2=0]")
        }
    }
}
