import JSONCodec
import RPCWire
import Testing

struct MessageWriterTests {
    @Test func `a request is written around its parameters`() {
        let call = written { output in
            output.append(raw: MessageWriter.opening(of: "Greeter.greet"))
            output.append(#"["é"]"#)
            MessageWriter.closeRequest(id: 7, timeout: 250, in: output)
        }
        #expect(call == #"{"jsonrpc":"2.0","method":"Greeter.greet","params":["é"],"timeout":250,"id":7}"#)
        #expect(summary(call) == [#"call 7 Greeter.greet ["é"] within 250"#])
    }

    /// Swift takes nearly any text for a name.
    @Test func `a method may be called what it wants`() {
        let call = written { output in
            output.append(raw: MessageWriter.opening(of: #"Greeter.say "hi"/me"#))
            output.append("[]")
            MessageWriter.closeRequest(id: 7, timeout: nil, in: output)
        }
        #expect(summary(call) == [#"call 7 Greeter.say "hi"/me"#])
    }

    @Test func `a notification has no id and a foreign peer gets no timeout`() {
        let post = written { output in
            MessageWriter.openRequest(method: "m", in: output)
            output.append("[]")
            MessageWriter.closeRequest(id: nil, timeout: nil, in: output)
        }
        #expect(post == #"{"jsonrpc":"2.0","method":"m","params":[]}"#)
        #expect(
            written { MessageWriter.writeNotification("rpc.drain", in: $0) }
                == #"{"jsonrpc":"2.0","method":"rpc.drain"}"#)
    }

    @Test func `an object may have any name`() {
        let call = written { output in
            MessageWriter.openRequest(method: "Room[a\"]\n].enter(_:)", in: output)
            output.append("{}")
            MessageWriter.closeRequest(id: 1, timeout: nil, in: output)
        }
        #expect(call == #"{"jsonrpc":"2.0","method":"Room[a\"]\n].enter(_:)","params":{},"id":1}"#)
        #expect(summary(call) == ["call 1 Room[a\"]\n].enter(_:)"])
    }

    @Test func `a cancellation names its call`() {
        let text = written { MessageWriter.writeCancel(of: 9, in: $0) }
        #expect(text == #"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}"#)
        #expect(MessageReader.identifier(in: Bytes(#"{"id":9}"#)) == .integer(9))
    }

    @Test(arguments: ["{}", "[9]", "9", #"{"id":}"#, #"{"id":[]}"#])
    func `a cancellation that names no call has no id`(params: String) {
        #expect(MessageReader.identifier(in: Bytes(params)) == nil)
    }

    @Test(arguments: MessageReaderTests.identifiers)
    func `a result goes back under the id that came`(id: String) throws {
        let read = try #require(MessageReader.identifier(in: Bytes(#"{"id":\#(id)}"#)))
        let reply = written { output in
            MessageWriter.openResult(id: read, in: output)
            output.append("null")
            MessageWriter.closeResult(in: output)
        }
        #expect(reply == #"{"jsonrpc":"2.0","id":\#(id.replacing(#"\u00E9"#, with: "é")),"result":null}"#)
        #expect(summary(reply).first?.hasPrefix("result ") == true)
    }

    @Test func `an error goes back with what it carries`() {
        let plain = ErrorObject(code: -32601, message: "there is no \"m\"")
        #expect(
            written { MessageWriter.writeFailure(id: .string("a"), error: plain, in: $0) }
                == #"{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"there is no \"m\""}}"#)
        let data = ErrorObject(code: 1, message: "", data: Bytes(#"{"a":[1]}"#))
        #expect(
            written { MessageWriter.writeFailure(id: .null, error: data, in: $0) }
                == #"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"","data":{"a":[1]}}}"#)
    }

    @Test func `data that came on several lines leaves on one`() {
        let error = ErrorObject(code: 1, message: "a\nb", data: Bytes("\n{\n  \"a\":\r\n1}\n"))
        let reply = written { MessageWriter.writeFailure(id: .integer(1), error: error, in: $0) }
        #expect(!reply.contains("\n"))
        #expect(cut(String(decoding: framed([reply], .lines), as: UTF8.self)) == Cut(frames: [reply]))
        #expect(summary(reply).count == 1)
    }
}
