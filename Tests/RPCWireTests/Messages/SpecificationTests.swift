import RPCWire
import Testing

/// The examples of section 7 of the JSON-RPC 2.0 specification, and its error numbers.
struct SpecificationTests {
    static let examples: [(String, [String])] = [
        (#"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#, ["call 1 subtract [42, 23]"]),
        (#"{"jsonrpc": "2.0", "result": 19, "id": 1}"#, ["result 1 19"]),
        (#"{"jsonrpc": "2.0", "method": "subtract", "params": [23, 42], "id": 2}"#, ["call 2 subtract [23, 42]"]),
        (#"{"jsonrpc": "2.0", "result": -19, "id": 2}"#, ["result 2 -19"]),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
            [#"call 3 subtract {"subtrahend": 23, "minuend": 42}"#]
        ),
        (
            #"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42, "subtrahend": 23}, "id": 4}"#,
            [#"call 4 subtract {"minuend": 42, "subtrahend": 23}"#]
        ),
        (#"{"jsonrpc": "2.0", "method": "update", "params": [1,2,3,4,5]}"#, ["notification update [1,2,3,4,5]"]),
        (#"{"jsonrpc": "2.0", "method": "foobar"}"#, ["notification foobar"]),
        (#"{"jsonrpc": "2.0", "method": "foobar", "id": "1"}"#, [#"call "1" foobar"#]),
        (
            #"{"jsonrpc": "2.0", "error": {"code": -32601, "message": "Method not found"}, "id": "1"}"#,
            ["failure no call -32601 Method not found"]
        ),
        (#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, ["refused -32700"]),
        (
            #"{"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}, "id": null}"#,
            ["failure no call -32700 Parse error"]
        ),
        (#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, ["invalid null -32600"]),
        (
            #"[{"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},{"jsonrpc": "2.0", "method"]"#,
            ["refused -32700"]
        ),
        ("[]", ["refused -32600"]),
        ("[1]", ["batch", "invalid null -32600"]),
        ("[1,2,3]", ["batch", "invalid null -32600", "invalid null -32600", "invalid null -32600"]),
        (
            """
            [
                {"jsonrpc": "2.0", "method": "sum", "params": [1,2,4], "id": "1"},
                {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
                {"jsonrpc": "2.0", "method": "subtract", "params": [42,23], "id": "2"},
                {"foo": "boo"},
                {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
                {"jsonrpc": "2.0", "method": "get_data", "id": "9"}
            ]
            """,
            [
                "batch", #"call "1" sum [1,2,4]"#, "notification notify_hello [7]", #"call "2" subtract [42,23]"#,
                "invalid null -32600", #"call "5" foo.get {"name": "myself"}"#, #"call "9" get_data"#,
            ]
        ),
        (
            #"[{"jsonrpc": "2.0", "result": 7, "id": "1"}, {"jsonrpc": "2.0", "result": ["hello", 5], "id": "9"}]"#,
            ["batch", "result no call 7", #"result no call ["hello", 5]"#]
        ),
        (
            """
            [
                {"jsonrpc": "2.0", "method": "notify_sum", "params": [1,2,4]},
                {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]}
            ]
            """,
            ["batch", "notification notify_sum [1,2,4]", "notification notify_hello [7]"]
        ),
    ]

    @Test(arguments: examples)
    func `every example of the specification is understood`(text: String, expected: [String]) {
        #expect(summary(text) == expected)
    }

    static let codes: [(Int, Int)] = [
        // JSON-RPC 2.0.
        (ErrorCode.parseError, -32700), (ErrorCode.invalidRequest, -32600), (ErrorCode.methodNotFound, -32601),
        (ErrorCode.invalidParams, -32602), (ErrorCode.internalError, -32603),
        // LSP.
        (ErrorCode.cancelled, -32800),
        // jsonrpsee.
        (ErrorCode.requestTooLarge, -32007), (ErrorCode.responseTooLarge, -32008), (ErrorCode.busy, -32009),
        (ErrorCode.batchTooLarge, -32010), (ErrorCode.batchReplyTooLarge, -32011),
        // Ours.
        (ErrorCode.unavailable, -32050), (ErrorCode.connectionLost, -32051), (ErrorCode.deadlineExceeded, -32052),
        (ErrorCode.closed, -32053), (ErrorCode.denied, -32054), (ErrorCode.unauthenticated, -32055),
        (ErrorCode.noSuchObject, -32001), (ErrorCode.invalidAddress, -32057), (ErrorCode.invalidReply, -32058),
    ]

    @Test func `every error has its number, and no number means two things`() {
        for (code, number) in Self.codes { #expect(code == number) }
        #expect(Set(Self.codes.map(\.1)).count == Self.codes.count)
        // -32768 … -32000 is the specification's; what it has not given away there is -32000 … -32099.
        #expect(Self.codes.dropFirst(6).allSatisfy { (-32099 ... -32000).contains($0.0) })
    }
}
