import RPCWire
import Testing

struct MessageReaderTests {
    static let identifiers = [
        "0", "1", "-1", #""0""#, "9007199254740993", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "123456789012345678901234567890", "1.0", "1e0", "-0", "0.1", "1E+2", "null", #""""#,
        #""c0ffee00-1234-4abc-8def-000000000000""#, #""\u00E9\n""#,
    ]

    @Test(arguments: identifiers)
    func `an id is echoed as its sender wrote it`(id: String) {
        let texts = summary(#"{"jsonrpc":"2.0","method":"m","id":\#(id)}"#)
        let echo = id.replacing(#"\u00E9"#, with: "é")
        #expect(texts == ["call \(echo) m"])
        #expect(summary(#"{"jsonrpc":"2.0","id":\#(id)}"#) == ["invalid \(echo) -32600"])
    }

    @Test(arguments: identifiers)
    func `a reply is to the call with its number, and to no call under an id that is no integer`(id: String) {
        let number = Int64(id).map { "\($0)" }.flatMap { $0 == id ? $0 : nil } ?? "no call"
        #expect(summary(#"{"jsonrpc":"2.0","result":1,"id":\#(id)}"#) == ["result \(number) 1"])
        let error = #""error":{"code":1,"message":"x"}"#
        #expect(summary(#"{"jsonrpc":"2.0",\#(error),"id":\#(id)}"#) == ["failure \(number) 1 x"])
    }

    @Test func `ids that differ in type or spelling are different`() {
        // Two spellings of one character.
        let spelled = [#""\u00e9""#, #""e\u0301""#]
        let ids = (Self.identifiers + spelled.dropFirst()).map { id in
            MessageReader.identifier(in: Bytes(#"{"id":\#(id)}"#))
        }
        #expect(!ids.contains(nil))
        for (index, id) in ids.enumerated() { #expect(ids.firstIndex(of: id) == index) }
    }

    @Test func `an id has so many bytes at most, and a longer one is refused under null`() {
        let longest = #""\#(String(repeating: "0", count: RPCIdentifier.longest))""#
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","id":\#(longest)}"#) == ["call \(longest) m"])
        let longer = #""0\#(longest.dropFirst())"#
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","id":\#(longer)}"#) == ["invalid null -32600"])
        #expect(summary(#"{"jsonrpc":"2.0","result":1,"id":\#(longer)}"#) == ["ignored"])
        #expect(MessageReader.identifier(in: Bytes(#"{"id":\#(longer)}"#)) == nil)
        for (blanks, isRead) in [(1_000, true), (100_000, false)] {
            let padded = Bytes(#"{"id":1\#(String(repeating: " ", count: blanks))}"#)
            #expect((MessageReader.identifier(in: padded) != nil) == isRead)
        }
    }

    @Test func `a member has its name however that is written, and no other that looks like it`() {
        let escaped = "id".unicodeScalars.map { "\\u00" + String($0.value, radix: 16) }.joined()
        for name in [escaped, #"\u0069d"#, #"i\u0064"#] {
            #expect(summary(#"{"jsonrpc":"2.0","method":"m","\#(name)":1}"#) == ["call 1 m"])
        }
        let whole = "jsonrpc".unicodeScalars.map { "\\u00" + String($0.value, radix: 16) }.joined()
        #expect(summary(#"{"\#(whole)":"2.0","method":"m","id":1}"#) == ["call 1 m"])
        for name in [#"id\u0000"#, #"\u0000id"#, #"i\u0064\n"#, #"\n"#, #"\u0049d"#, #"\u00e9d"#, #"methods\u0000"#] {
            #expect(summary(#"{"jsonrpc":"2.0","method":"m","\#(name)":1}"#) == ["notification m"])
        }
    }

    @Test(arguments: ["true", "false", "[]", "[1]", "{}"])
    func `an id of any other type is refused under null`(id: String) {
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","id":\#(id)}"#) == ["invalid null -32600"])
        #expect(summary(#"{"jsonrpc":"2.0","result":1,"id":\#(id)}"#) == ["ignored"])
        #expect(MessageReader.identifier(in: Bytes(#"{"id":\#(id)}"#)) == nil)
    }

    @Test(arguments: [
        "", #","params":null"#, #","params":[]"#, #","params":{}"#, ",\"params\": [ \n\t] ", #","params":{ }"#,
    ])
    func `missing, null and empty parameters are none`(params: String) {
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","id":1\#(params)}"#) == ["call 1 m"])
    }

    @Test(arguments: ["1", "true", #""text""#, "1.5"])
    func `parameters that are no array and no object make no request`(params: String) {
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","id":1,"params":\#(params)}"#) == ["invalid 1 -32600"])
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","params":\#(params)}"#) == ["invalid null -32600"])
    }

    @Test(arguments: ["", #""jsonrpc":"1.0","#, #""jsonrpc":2.0,"#, #""jsonrpc":null,"#, #""jsonrpc":"2.00","#])
    func `the version must be there and be 2`(version: String) {
        #expect(summary(#"{\#(version)"method":"m","id":1}"#) == ["invalid 1 -32600"])
        #expect(
            summary(#"{\#(version)"result":1,"id":1}"#)
                == [#"failure 1 -32058 the reply is not valid JSON-RPC: jsonrpc must be "2.0""#])
    }

    @Test(arguments: ["1", "[]", "{}", "true", "null"])
    func `a method that is no string makes no request`(method: String) {
        #expect(summary(#"{"jsonrpc":"2.0","method":\#(method),"id":1}"#) == ["invalid 1 -32600"])
    }

    @Test func `members come in any order, with any neighbours, and the last of two counts`() {
        let members = [
            #""jsonrpc":"2.0""#, #""method":"m""#, #""params":[1]"#, #""id":7"#, #""timeout":5"#, #""x":{"id":0}"#,
        ]
        for turn in members.indices {
            let turned = members[turn...] + members[..<turn]
            #expect(summary("{\(turned.joined(separator: " , "))}") == ["call 7 m [1] within 5"])
            #expect(summary("{\(turned.reversed().joined(separator: ","))}") == ["call 7 m [1] within 5"])
        }
        let twice = #"{"jsonrpc":"1","id":true,"method":1,"params":1,"timeout":9,"#
        #expect(summary(twice + members.joined(separator: ",") + "}") == ["call 7 m [1] within 5"])
        #expect(
            summary("{" + members.joined(separator: ",") + #","params":[],"id":"8","method":"n"}"#) == [
                #"call "8" n within 5"#
            ])
    }

    @Test func `escapes hide nothing`() {
        let names = #""json\u0072pc":"2\u002e0","m\u0065thod":"$\/cancel\u0052equest""#
        let text = #"{\#(names),"param\u0073":{"id":1},"i\u0064":"\u0031"}"#
        #expect(summary(text) == [#"call "1" $/cancelRequest {"id":1}"#])
        #expect(summary(#"{"jsonrpc":"2.0","method":"méthode.è"}"#) == ["notification méthode.è"])
    }

    @Test(arguments: [("0", "0"), ("250", "250"), ("9223372036854775807", "9223372036854775807")])
    func `a timeout is a whole number of milliseconds`(written: String, read: String) {
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","timeout":\#(written)}"#) == ["notification m within \(read)"])
    }

    @Test(arguments: ["-1", "1.5", "1e3", "9223372036854775808", #""250""#, "null", "true", "[1]", "{}"])
    func `any other timeout is somebody else's member`(timeout: String) {
        #expect(summary(#"{"jsonrpc":"2.0","timeout":\#(timeout),"method":"m"}"#) == ["notification m"])
    }

    @Test func `a view of the frame is all that a request holds`() throws {
        let frame = Bytes(#"{"jsonrpc":"2.0","method":"Greeter.greet","params":["é"],"id":1}"#)
        guard case .request(let request) = MessageReader().read(frame) else {
            Issue.record("not a request")
            return
        }
        for view in [request.method, try #require(request.params)] {
            let offset = frame.withUnsafeBytes { frame in
                view.withUnsafeBytes { $0.baseAddress.flatMap { frame.baseAddress?.distance(to: $0) } }
            }
            #expect(try (1..<frame.count).contains(#require(offset)))
        }
    }

    @Test(arguments: ["1", "null", "true", #""text""#, " 1.5 "])
    func `JSON that is no object and no array is not a message`(text: String) {
        #expect(summary(text) == ["invalid null -32600"])
    }

    @Test(arguments: [
        "", " ", "\n", "{}{}", "{} x", #"{"jsonrpc":"2.0","method":"m"},"#, "\u{FEFF}{}", "[1]]", "{", "nul",
    ])
    func `what is not one JSON text is refused`(text: String) {
        #expect(summary(text) == ["refused -32700"])
    }

    @Test func `a batch may reach its limit and not pass it`() {
        let reader = MessageReader(maximumBatch: 3)
        #expect(summary("[1,1,1]", reader).count == 4)
        #expect(summary("[1,1,1,1]", reader) == ["refused -32010"])
        #expect(summary("[1]", MessageReader(maximumBatch: 0)) == ["refused -32010"])
        guard case .refused(let error) = reader.read(Bytes("[1,1,1,1]")) else { return }
        #expect(error.message == "a batch has more than 3 members (maximumBatch)")
    }

    @Test func `a batch in a batch is no message`() {
        #expect(summary(#"[[{"jsonrpc":"2.0","method":"m","id":1}]]"#) == ["batch", "invalid null -32600"])
    }

    /// An array in this many others.
    private func nested(_ depth: Int) -> String {
        String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
    }

    @Test(arguments: ["m", #"\u006d"#])
    func `an argument may be nested as deep as the limit says, and a deeper one is refused under its id`(_ name: String)
    {
        func call(_ depth: Int) -> String {
            #"{"jsonrpc":"2.0","method":"\#(name)","params":[\#(nested(depth))],"id":7}"#
        }
        #expect(summary(call(512)).first?.hasPrefix("call 7 m [[") == true)
        let refusal = "unreadable 7 \(name) -32602 the params cannot be read: nested deeper than"
        #expect(summary(call(513)).first?.hasPrefix(refusal) == true)
        #expect(summary(call(100_000)).first?.hasPrefix("\(refusal) 512 levels") == true)
        let three = MessageReader(maximumDepth: 3)
        #expect(summary(call(3), three) == ["call 7 m [[[[1]]]]"])
        #expect(summary(call(4), three).first?.contains("3 levels at byte") == true)
        #expect(summary(call(4), three).first?.hasSuffix("(maximumDepth)") == true)
        let batch = "[\(call(3)),\(call(4)),\(call(3))]"
        #expect(
            summary(batch, three).map { $0.prefix(12) } == ["batch", "call 7 m [[[", "unreadable 7", "call 7 m [[["])
        #expect(summary(call(4).replacing("]],", with: "],"), three) == ["refused -32700"])
    }

    @Test func `so may a result, and a deeper one ends its call`() {
        func reply(_ member: String, _ depth: Int) -> String {
            #"{"jsonrpc":"2.0","id":7,"\#(member)":\#(nested(depth))}"#
        }
        let reader = MessageReader(maximumDepth: 3)
        #expect(summary(reply("result", 3), reader) == ["result 7 [[[1]]]"])
        let refusal = "failure 7 -32058 the reply cannot be read: nested deeper than 3 levels at byte"
        #expect(summary(reply("result", 4), reader).first?.hasPrefix(refusal) == true)
        #expect(summary(reply("error", 9), reader).first?.hasSuffix(#"(maximumDepth) {"outcome":"unknown"}"#) == true)
        let error = #"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x","data":[\#(nested(3))]}}"#
        #expect(summary(error, reader) == ["failure 7 1 x [[[[1]]]]"])
    }

    @Test func `a member that nobody reads may not be deeper either, and its sender is told under the id`() {
        let text = #"{"jsonrpc":"2.0","method":"m","trace":\#(nested(4)),"id":7}"#
        #expect(summary(text, MessageReader(maximumDepth: 3)) == ["invalid 7 -32600"])
    }

    @Test(arguments: [#"\ud800"#, #"a\udc00b"#, #"\ud800\ud800"#, #"\ud800\n"#])
    func `half of a surrogate pair in the parameters is refused under the id of its request`(_ half: String) {
        for params in [#"["\#(half)"]"#, #"{"a":["\#(half)"]}"#, #"{"\#(half)":1}"#] {
            let text = #"{"jsonrpc":"2.0","method":"m","params":\#(params),"id":7}"#
            #expect(summary(text).first?.hasPrefix("unreadable 7 m -32602 the params cannot be read: half of") == true)
            let good = #"{"jsonrpc":"2.0","method":"m","id":8}"#
            #expect(
                summary("[\(good),\(text),\(good)]").map { $0.prefix(8) } == [
                    "batch", "call 8 m", "unreadab", "call 8 m",
                ])
            #expect(summary(text.replacing("}", with: "]")) == ["refused -32700"])
        }
        let reply = #"{"jsonrpc":"2.0","id":7,"result":["\#(half)"]}"#
        #expect(summary(reply).first?.hasPrefix("failure 7 -32058 the reply cannot be read: half of") == true)
    }

    @Test func `in a member that means nothing it is refused under the id, and in a name or an id it is not JSON`() {
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","x":"\ud800","id":7}"#) == ["invalid 7 -32600"])
        for member in [#""method":"\ud800","id":7"#, #""method":"m","id":"\ud800""#] {
            #expect(summary(#"{"jsonrpc":"2.0",\#(member)}"#) == ["refused -32700"])
        }
        #expect(summary(#"{"jsonrpc":"2.0","method":"m","params":["\ud800\x"],"id":7}"#) == ["refused -32700"])
    }

    @Test func `only requests with an id and invalid ones are answered`() {
        let members = [#""method":"m","id":null"#, #""method":"m""#, #""id":1,"result":1"#]
        let text = "[" + members.map { #"{"jsonrpc":"2.0",\#($0)},"# }.joined() + "1]"
        guard case .batch(let messages) = MessageReader().read(Bytes(text)) else { return }
        #expect(messages.map(\.isAnswered) == [true, false, false, true])
    }
}
