// Batches at their edges: as many members as there may be, one more, and everything that can stand where a request should.

import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Batches` {
    private static func batch(_ count: Int) -> String {
        let members = (1...count).map {
            #"{"jsonrpc":"2.0","method":"Calculator.add","params":[\#($0),0],"id":\#($0)}"#
        }
        return "[\(members.joined(separator: ","))]"
    }

    @Test func `as many members as allowed are all answered, one more is refused as a whole`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumBatch = 100
        try await withWire(configuration) { url in
            let client = try RawClient(url)
            let answers = try #require(try client.ask(Self.batch(100)))
            #expect(try brief(answers).split(separator: ", ").count == 100)
            let refused = try #require(try client.ask(Self.batch(101)))
            #expect(
                refused == #"{"jsonrpc":"2.0","id":null,"error":{"code":-32010,"message":"#
                    + #""a batch has more than 100 members (maximumBatch)"}}"#)
            #expect(try brief(client.ask(Self.batch(1))) == "[1=1]")
        }
    }

    @Test func `a thousand members are allowed by default`() async throws {
        try await withWire { url in
            let answers = try #require(try RawClient(url, .headers).ask(Self.batch(1_000)))
            #expect(try brief(answers).split(separator: ", ").count == 1_000)
        }
    }

    @Test(arguments: [
        (#"[[]]"#, "[null!-32600]"),
        (#"[[{"jsonrpc":"2.0","method":"Counter.next","id":1}]]"#, "[null!-32600]"),
        (#"[null,true,"x",1.5,{}]"#, "[\((1...5).map { _ in "null!-32600" }.joined(separator: ", "))]"),
        (#"[{"jsonrpc":"2.0","method":"Counter.value","id":[]},1]"#, "[null!-32600, null!-32600]"),
        (#"[{"jsonrpc":"2.0","method":"Counter.value","id":1},{"jsonrpc":"2.0","id":1,"result":3}]"#, "[1=0]"),
        (
            #"[{"jsonrpc":"2.0","method":"Counter.value","id":1},{"jsonrpc":"2.0","method":"Counter.value","id":1}]"#,
            "[1=0, 1=0]"
        ),
        (
            #" [ {"jsonrpc":"2.0","method":"rpc.nothing","id":1} , {"jsonrpc":"2.0","method":"$/x","id":2} ] "#,
            "[1!-32601, 2!-32601]"
        ),
        (#"[{"jsonrpc":"2.0","method":"Counter.value","id":1}"#, "null!-32700"),
        (#"[{"jsonrpc":"2.0","method":"Counter.value","id":1},]"#, "null!-32700"),
        (#"[{"jsonrpc":"2.0","method":"Counter.value","id":1}]]"#, "null!-32700"),
    ])
    func `whatever stands in a batch gets its own answer`(batch: String, expected: String) async throws {
        try await withWire { url in
            let answer = try RawClient(url).ask(batch)
            #expect(try brief(answer) == expected)
        }
    }

    @Test func `answers that together are too large become one error`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumFrameSize = 4_096
        try await withWire(configuration) { url in
            let text = String(repeating: "é", count: 700)
            let call = #"{"jsonrpc":"2.0","method":"Greeter.greet","params":["\#(text)"],"id":1}"#
            let client = try RawClient(url)
            #expect(try brief(client.ask("[\(call),\(call)]")).hasPrefix("[1=") == true)
            let few = #"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#
            #expect(try brief(client.ask("[\(few),\(few),\(few)]")) == "null!-32011")
        }
    }
}
