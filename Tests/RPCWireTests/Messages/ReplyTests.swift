import RPCWire
import Testing

struct ReplyTests {
    static let invalid = "the reply is not valid JSON-RPC:"

    static let replies: [(String, String)] = [
        (#""result":null"#, "result 1 null"),
        (#""result":{"a":[1, 2]}"#, #"result 1 {"a":[1, 2]}"#),
        (#""error":{"code":5,"message":"no"}"#, "failure 1 5 no"),
        (#""error":{"data":{"x":[1]},"message":"n\u006f","code":-32000}"#, #"failure 1 -32000 no {"x":[1]}"#),
        (#""error":{"code":5,"message":"no","data":null,"extra":[{}]}"#, "failure 1 5 no"),
        (#""error":{"code":9,"message":"old","code":5,"message":"no"}"#, "failure 1 5 no"),
        // Writers that list every member they know.
        (#""method":null,"params":null,"result":5,"error":null"#, "result 1 5"),
        (#""result":null,"error":{"code":5,"message":"no"}"#, "failure 1 5 no"),
        (#""result":null,"error":null"#, "result 1 null"),
        // Bad ones end their call all the same.
        (
            #""result":1,"error":{"code":5,"message":"no"}"#,
            "failure 1 -32058 \(invalid) it has both a result and an error"
        ),
        (#""error":null"#, "failure 1 -32058 \(invalid) it has neither a result nor an error"),
    ]

    @Test(arguments: replies)
    func `a reply ends its call in one way`(members: String, expected: String) {
        #expect(summary(#"{"jsonrpc":"2.0","id":1,\#(members)}"#) == [expected])
        #expect(summary(#"{\#(members),"id":1,"jsonrpc":"2.0"}"#) == [expected])
    }

    @Test(
        arguments: [
            "1", #""no""#, "[]", "{}", "true", #"{"code":5}"#, #"{"message":"no"}"#, #"{"code":"5","message":"no"}"#,
            #"{"code":5.5,"message":"no"}"#, #"{"code":5,"message":6}"#, #"{"code":1e400,"message":"no"}"#,
            #"{"code":9223372036854775808,"message":"no"}"#,
        ])
    func `an error without a whole code or a message ends its call as an invalid reply`(error: String) {
        #expect(
            summary(#"{"jsonrpc":"2.0","id":1,"error":\#(error)}"#)
                == ["failure 1 -32058 \(Self.invalid) its error has no code or no message"])
    }

    @Test(arguments: [
        #""result":1"#, #""error":{"code":5,"message":"no"}"#, #""result":1,"error":1"#, #""error":null"#,
    ])
    func `a reply that names no call is never answered`(members: String) {
        #expect(summary("{\(members)}") == ["ignored"])
        #expect(summary(#"{"jsonrpc":"2.0",\#(members)}"#) == ["ignored"])
        #expect(summary(#"{"jsonrpc":"2.0",\#(members),"id":{}}"#) == ["ignored"])
    }

    @Test func `a message with a method is a request whatever else it holds`() {
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","result":1,"error":2,"id":1}"#) == ["call 1 m"])
        #expect(summary(#"{"jsonrpc":"2.0","method":5,"result":1,"id":1}"#) == ["invalid 1 -32600"])
    }
}
