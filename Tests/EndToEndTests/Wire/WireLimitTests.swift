// Every limit at its edge: up to it all goes well; beyond it the answer names the limit and its value.

import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Limits on the wire` {
    /// A call of exactly so many bytes.
    private static func call(bytes: Int) -> String {
        let empty = #"{"jsonrpc":"2.0","method":"Echo.text","params":[""],"id":1}"#
        let text = String(repeating: "x", count: bytes - empty.utf8.count)
        return empty.replacing("\"\"]", with: "\"\(text)\"]")
    }

    @Test(arguments: WireFraming.allCases)
    func `a message at the limit is taken; one byte more is answered and ends the connection`(
        framing: WireFraming
    ) async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumFrameSize = 1_000
        try await withWire(configuration) { url in
            let client = try RawClient(url, framing)
            #expect(try brief(client.ask(Self.call(bytes: 1_000))).hasPrefix("1=\"xxx"))
            client.say(Self.call(bytes: 1_001))
            client.say(Said.value)
            let refusal = try client.hear()
            #expect(try brief(refusal) == "null!-32007")
            #expect(refusal?.contains("1000") == true && refusal?.contains("maximumFrameSize") == true)
            #expect(try client.hear() == nil)
        }
    }

    @Test(arguments: [[0, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 1]])
    func `a length over the limit is refused before a byte of it has come`(length: [UInt8]) async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumFrameSize = 1 << 20
        try await withWire(configuration) { url in
            let client = try RawClient(url, .lengthPrefixed)
            #expect(try brief(client.ask(Said.value)) == "1=0")
            client.send(length)
            #expect(try brief(client.hear()) == "null!-32007")
            #expect(try client.hear() == nil)
        }
    }

    @Test func `a line without an end is refused when it is too long`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumFrameSize = 10_000
        try await withWire(configuration) { url in
            let client = try RawClient(url)
            client.send("[" + String(repeating: " ", count: 10_001))
            #expect(try brief(client.hear()) == "null!-32007")
            #expect(try client.hear() == nil)
        }
    }

    @Test func `headers have limits of their own`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumHeaderBlock = 200
        configuration.limits.maximumHeaderLines = 3
        try await withWire(configuration) { url in
            for block in [
                "Content-Type: \(String(repeating: "x", count: 200))",
                String(repeating: "Content-Type: x\r\n", count: 4),
            ] {
                let client = try RawClient(url, .headers)
                client.send(block)
                let refusal = try client.hear()
                #expect(try brief(refusal) == "null!-32700")
                #expect(refusal?.contains("maximumHeader") == true)
                #expect(try client.hear() == nil)
            }
        }
    }

    @Test func `a reply over the limit becomes an error and the connection goes on`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumFrameSize = 1_000
        try await withWire(configuration) { url in
            let client = try RawClient(url)
            let line = String(repeating: "x", count: 800)
            for _ in 0..<2 { client.say(#"{"jsonrpc":"2.0","method":"Counter.note","params":["\#(line)"]}"#) }
            #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"Counter.notes","id":1}"#)) == "1!-32008")
            #expect(try brief(client.ask(Said.value)) == "1=0")
        }
    }

    @Test(arguments: [("[", "]"), (#"{"a":"#, "}")])
    func `nesting is read as deep as allowed and no deeper`(open: String, close: String) async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumDepth = 64
        try await withWire(configuration) { url in
            let client = try RawClient(url)
            // The message and the list of its arguments do not count.
            for (depth, reason) in [(64, "argument 'text'"), (65, "64 levels at byte"), (9_000, "(maximumDepth)")] {
                let last = open == "[" ? "[]" : "{}"
                let value =
                    String(repeating: open, count: depth - 1) + last + String(repeating: close, count: depth - 1)
                let call = #"{"jsonrpc":"2.0","id":1,"method":"Echo.text","params":[\#(value)]}"#
                let answer = try client.ask(call)
                #expect(try brief(answer) == "1!-32602", "\(depth)")
                #expect(answer?.contains(reason) == true, "\(depth)")
                let batch = "[\(call),\(Said.value)]"
                #expect(try brief(client.ask(batch)) == "[1!-32602, 1=0]", "\(depth)")
            }
        }
    }

    @Test func `half of a surrogate pair in a parameter is answered under the id of its call`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let call = #"{"jsonrpc":"2.0","method":"Echo.text","params":["\ud800"],"id":1}"#
            #expect(try brief(client.ask(call)) == "1!-32602")
            #expect(try brief(client.ask("[\(Said.value),\(call)]")) == "[1!-32602, 1=0]")
            #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"Echo.\ud800","id":1}"#)) == "null!-32700")
            // A post is not answered, and neither it nor what follows holds up anything.
            client.say(#"{"jsonrpc":"2.0","method":"Counter.note","params":["\udfff"]}"#)
            #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"Counter.notes","id":2}"#)) == "2=[]")
        }
    }

    @Test func `what is too deep or too much in one answer is counted`() async throws {
        try await withGate {
            $0.limits.maximumDepth = 4
            $0.limits.maximumFrameSize = 1_000
        } _: { server, url in
            let client = try RawClient(url)
            #expect(try brief(client.ask(Said.value)) == "1=0")
            #expect(
                try brief(client.ask(#"{"jsonrpc":"2.0","id":1,"method":"x","params":[[[[[[]]]]]]}"#)) == "1!-32602")
            #expect(server.counters.overruns == ["maximumDepth": 1])
            let echo = Self.call(bytes: 400)
            #expect(try brief(client.ask("[\(echo),\(echo)]")).hasPrefix("["))
            let text = String(repeating: "x", count: 400)
            client.say(#"{"jsonrpc":"2.0","method":"Counter.note","params":["\#(text)"]}"#)
            let all = #"{"jsonrpc":"2.0","method":"Counter.notes","id":1}"#
            #expect(try brief(client.ask("[\(all),\(all),\(all)]")) == "null!-32011")
            #expect(server.counters.overruns == ["maximumDepth": 1, "maximumFrameSize": 1])
        }
    }

    @Test func `more calls at a time than allowed are refused as busy, and only those`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumRequestsInFlight = 3
        try await withWire(configuration) { url in
            let later = { (id: Int) in #"{"jsonrpc":"2.0","method":"Echo.later","params":["x",60000],"id":\#(id)}"# }
            let client = try RawClient(url)
            for id in 1...3 { client.say(later(id)) }
            let refusal = try client.ask(later(4))
            #expect(try brief(refusal) == "4!-32009")
            #expect(refusal?.contains("maximumRequestsInFlight") == true)
            // The neighbour has a count of its own.
            #expect(try brief(RawClient(url).ask(Said.value)) == "1=0")
            client.say(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}"#)
            #expect(try brief(client.hear()) == "2!-32800")
            #expect(try brief(client.ask(Said.value)) == "1=0")
        }
    }

    @Test func `calls with more bytes than allowed are refused as busy, and a batch is counted until it is answered`()
        async throws
    {
        try await withGate {
            $0.limits.maximumBytesInFlight = 100_000
        } _: { server, url in
            let text = String(repeating: "x", count: 60_000)
            let later = { (text: String, id: Int) in
                #"{"jsonrpc":"2.0","method":"Echo.later","params":["\#(text)",60000],"id":\#(id)}"#
            }
            let cancel = { (id: Int) in #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"# }
            let client = try RawClient(url)
            for id in 1...2 { client.say(later(text, id)) }
            for refused in [later(text, 3), later("x", 3), Said.value] {
                let refusal = try client.ask(refused)
                #expect(try brief(refusal).hasSuffix("!-32009"))
                #expect(refusal?.contains("more than 100000 bytes of arguments of one connection's calls") == true)
            }
            #expect(server.counters.overruns == ["maximumBytesInFlight": 3])
            #expect(server.counters.requestsRunning == 2 && abs(server.counters.bytesKept - 120_000) < 5_000)
            // The neighbour has a count of its own.
            #expect(try brief(RawClient(url).ask(Said.value)) == "1=0")
            client.say(cancel(2))
            #expect(try brief(client.hear()) == "2!-32800")
            #expect(try brief(client.ask(Said.value)) == "1=0")
            // The answer that waits for the other one is as long as the call was.
            let echo = #"{"jsonrpc":"2.0","method":"Echo.text","params":["\#(text)"],"id":4}"#
            client.say("[\(later("x", 5)),\(echo)]")
            #expect(try brief(client.ask(Said.value)) == "1!-32009")
            for id in [5, 1] { client.say(cancel(id)) }
            let answers = try [brief(client.hear()), brief(client.hear())].sorted()
            #expect(answers.first == "1!-32800" && answers.last?.hasPrefix("[4=\"xxx") == true)
            #expect(try brief(client.ask(Said.value)) == "1=0")
            #expect(server.counters.requestsRunning == 0 && server.counters.bytesKept == 0)
        }
    }

    @Test func `a message as long as allowed is taken by itself, whatever calls may hold`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumFrameSize = 50_000
        configuration.limits.maximumBytesInFlight = 1
        configuration.limits.maximumBytesInAll = 1
        try await withWire(configuration) { url in
            let client = try RawClient(url)
            for _ in 0..<2 { #expect(try brief(client.ask(Self.call(bytes: 50_000))).hasPrefix("1=\"xxx")) }
        }
    }

    @Test func `calls that are quickly done are never too many, however they come`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumRequestsInFlight = 2
        try await withWire(configuration) { url in
            let client = try RawClient(url)
            client.send(String(repeating: Said.value + "\n", count: 500))
            for _ in 0..<500 { #expect(try brief(client.hear()) == "1=0") }
        }
    }
}
