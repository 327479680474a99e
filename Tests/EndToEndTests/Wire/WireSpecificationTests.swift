// The examples of section 7 of the JSON-RPC 2.0 specification, with our services' methods, over every framing.

import TestSupport
import Testing

@Suite(.waitsForOthers) struct `The JSON-RPC 2.0 specification` {
    /// What is sent, and what comes back in brief; nil when nothing does.
    private static let examples: [(String, String?)] = [
        // Positional parameters.
        (#"{"jsonrpc":"2.0","method":"Calculator.divide","params":[42,2],"id":1}"#, "1=21"),
        (#"{"jsonrpc":"2.0","method":"Calculator.divide","params":[2,42],"id":2}"#, "2=0"),
        // Named parameters, in any order.
        (#"{"jsonrpc":"2.0","method":"Calculator.divide","params":{"divisor":2,"dividend":42},"id":3}"#, "3=21"),
        (#"{"jsonrpc":"2.0","method":"Calculator.divide","params":{"dividend":42,"divisor":2},"id":4}"#, "4=21"),
        // Notifications: of a post, of a call, and of nothing that there is.
        (#"{"jsonrpc":"2.0","method":"Counter.note","params":["x"]}"#, nil),
        (#"{"jsonrpc":"2.0","method":"Calculator.add","params":[1,2]}"#, nil),
        (#"{"jsonrpc":"2.0","method":"foobar"}"#, nil),
        // A method that is not there.
        (#"{"jsonrpc":"2.0","method":"foobar","id":"1"}"#, "\"1\"!-32601"),
        // Not JSON.
        (#"{"jsonrpc":"2.0","method":"foobar,"params":"bar","baz]"#, "null!-32700"),
        // Not a request.
        (#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#, "null!-32600"),
        // A batch that is not JSON.
        (
            #"[{"jsonrpc":"2.0","method":"sum","params":[1,2,4],"id":"1"},{"jsonrpc":"2.0","method"]"#,
            "null!-32700"
        ),
        // An empty batch: one error, not an array of them.
        ("[]", "null!-32600"),
        // Batches of what is not a request.
        ("[1]", "[null!-32600]"),
        ("[1,2,3]", "[null!-32600, null!-32600, null!-32600]"),
        // Some of each.
        (
            #"[{"jsonrpc":"2.0","method":"Calculator.add","params":[1,6],"id":"1"},"#
                + #"{"jsonrpc":"2.0","method":"Counter.note","params":[7]},"#
                + #"{"jsonrpc":"2.0","method":"Calculator.divide","params":[42,2],"id":"2"},"#
                + #"{"foo":"boo"},"#
                + #"{"jsonrpc":"2.0","method":"foo.get","params":{"name":"myself"},"id":"5"},"#
                + #"{"jsonrpc":"2.0","method":"Counter.value","id":"9"}]"#,
            "[\"1\"=7, \"2\"=21, \"5\"!-32601, \"9\"=0, null!-32600]"
        ),
        // Nothing but notifications.
        (
            #"[{"jsonrpc":"2.0","method":"Counter.note","params":[1]},{"jsonrpc":"2.0","method":"Echo.text"}]"#,
            nil
        ),
    ]

    @Test(arguments: WireFraming.allCases)
    func `its examples are answered as it says`(framing: WireFraming) async throws {
        try await withWire { url in
            let client = try RawClient(url, framing)
            // Something valid first: of a connection whose first message is not JSON nothing more is read.
            #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"Counter.value","id":0}"#)) == "0=0")
            for (sent, expected) in Self.examples {
                client.say(sent)
                // What is silent would be heard before the next answer.
                if let expected { #expect(try brief(client.hear()) == expected, "\(sent)") }
            }
            client.finish()
            #expect(try client.rest() == "")
        }
    }

    @Test func `a reply has the members that it must have and no others`() async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let call = #"{"id":7,"params":["a\"\\\u00e9\n\ud83d\ude00"],"method":"Echo.text","jsonrpc":"2.0","x":[1]}"#
            #expect(try client.ask(call) == #"{"jsonrpc":"2.0","id":7,"result":"a\"\\é\n😀"}"#)
            let reply = try client.ask(#"{"jsonrpc":"2.0","method":"Echo.text","params":[],"id":8}"#)
            #expect(
                reply == #"{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"argument 'text' of "#
                    + #"Echo.text(text: String) is missing"}}"#)
        }
    }

    @Test(arguments: [
        "0", "-1", "\"0\"", "9007199254740993", "-9223372036854775808", "9223372036854775807", "18446744073709551616",
        "1.5", "1.0", "1e2", "\"3f0c6b1e-7f0b-4c0e-9f0e-1d2f6a0b7c3d\"", "\"\"", "\"a\\\"\\\\b\"", "\"ü\"", "null",
    ])
    func `ids are echoed as they came`(id: String) async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let call = #"{"jsonrpc":"2.0","method":"Calculator.add","params":[1,1],"id":\#(id)}"#
            #expect(try client.ask(call) == #"{"jsonrpc":"2.0","id":\#(id),"result":2}"#)
            let wrong = try client.ask(#"{"jsonrpc":"2.0","method":"nothing","id":\#(id)}"#)
            #expect(wrong?.hasPrefix(#"{"jsonrpc":"2.0","id":\#(id),"error":{"code":-32601,"#) == true)
        }
    }

    @Test(arguments: ["true", "[1]", "{}", "{\"id\":1}"])
    func `ids of other types are refused`(id: String) async throws {
        try await withWire { url in
            let client = try RawClient(url)
            let call = #"{"jsonrpc":"2.0","method":"Calculator.add","params":[1,1],"id":\#(id)}"#
            #expect(try brief(client.ask(call)) == "null!-32600")
        }
    }

    @Test(arguments: [
        ("Counter.value", "", "1=0"),
        ("Counter.value", #","params":[]"#, "1=0"),
        ("Counter.value", #","params":{}"#, "1=0"),
        ("Counter.value", #","params":null"#, "1=0"),
        ("Counter.value", #","params":[ ]"#, "1=0"),
        ("Counter.value", #","params":{"unknown":1}"#, "1=0"),
        ("Counter.value", #","params":[1]"#, "1!-32602"),
        ("Counter.value", #","params":"x""#, "1!-32600"),
        ("Counter.value", #","params":7"#, "1!-32600"),
        ("Calculator.add", #","params":[1,2]"#, "1=3"),
        ("Calculator.add", #","params":{"b":2,"a":1}"#, "1=3"),
        ("Calculator.add", #","params":{"b":2,"a":1,"c":3}"#, "1=3"),
        ("Calculator.add", #","params":{"a":9,"b":2,"a":1}"#, "1=3"),
        ("Calculator.add", #","params":{"\u0061":1,"b":2}"#, "1=3"),
        ("Calculator.add", #","params":[1,2,3]"#, "1!-32602"),
        ("Calculator.add", #","params":[1]"#, "1!-32602"),
        ("Calculator.add", #","params":{"a":1}"#, "1!-32602"),
        ("Calculator.add", "", "1!-32602"),
        ("Calculator.add", #","params":[1,"2"]"#, "1!-32602"),
        ("Calculator.add", #","params":[1,2.5]"#, "1!-32602"),
        ("Calculator.add", #","params":[1,1e400]"#, "1!-32602"),
        ("Calculator.add", #","params":[1,9223372036854775808]"#, "1!-32602"),
        ("Calculator.add", #","params":[9223372036854775807,1]"#, "1!1"),
        ("Calculator.divide", #","params":[1,0]"#, "1!1"),
        ("Echo.text", #","params":[null]"#, "1!-32602"),
        ("Echo.record", #","params":[{"id":1}]"#, "1!-32602"),
        ("calculator.add", #","params":[1,2]"#, "1!-32601"),
        ("Calculator.add.", #","params":[1,2]"#, "1!-32601"),
        ("Calculator[x].add", #","params":[1,2]"#, "1!-32601"),
        ("", "", "1!-32601"),
        ("Calculator\\u002eadd", #","params":[1,2]"#, "1=3"),
    ])
    func `parameters come by position, by name or not at all`(
        method: String, params: String, expected: String
    ) async throws {
        try await withWire { url in
            let client = try RawClient(url)
            #expect(try brief(client.ask(#"{"jsonrpc":"2.0","method":"\#(method)"\#(params),"id":1}"#)) == expected)
        }
    }

    @Test(arguments: [
        #"{"method":"Counter.value","id":1}"#, #"{"jsonrpc":"1.0","method":"Counter.value","id":1}"#,
        #"{"jsonrpc":2.0,"method":"Counter.value","id":1}"#, #"{"jsonrpc":"2.0","id":1}"#,
        #"{"jsonrpc":"2.0","method":null,"id":1}"#, #"{"jsonrpc":"2.0","method":{},"id":1}"#,
    ])
    func `what is nearly a request is refused under its id`(message: String) async throws {
        try await withWire { url in
            let answer = try RawClient(url).ask(message)
            #expect(try brief(answer) == "1!-32600")
        }
    }
}
