// The metadata of a call as a dictionary and as text.

import JSONCodec
import RPCWire
import Testing

@Suite struct `The metadata of a call` {
    private static func metadata(_ entries: [String: String]) throws -> CallMetadata {
        try CallMetadata(entries, mostEntries: 3, mostBytes: 20)
    }

    private static func read(_ text: String) -> String {
        do throws(MetadataFault) {
            return try CallMetadata(reading: Bytes(text), mostEntries: 3, mostBytes: 20).text
        } catch {
            return "\(error)"
        }
    }

    @Test func `is written in one order, behind the parameters, and read again`() throws {
        let metadata = try Self.metadata(["b": "\"2\"\n", "a": "ü"])
        #expect(metadata.text == #"{"a":"ü","b":"\"2\"\n"}"#)
        #expect(try Self.metadata([:]).text == "{}")
        let call = written { output in
            MessageWriter.openRequest(method: "m", in: output)
            output.append("[]")
            MessageWriter.write(metadata, in: output)
            MessageWriter.closeRequest(id: 7, timeout: 250, in: output)
        }
        #expect(
            call == #"{"jsonrpc":"2.0","method":"m","params":[],"metadata":\#(metadata.text),"timeout":250,"id":7}"#)
        #expect(summary(call) == ["call 7 m within 250"])
        guard case .request(let request) = MessageReader().read(Bytes(call)) else {
            Issue.record("no request")
            return
        }
        #expect(request.metadata?.description == metadata.text)
        #expect(Self.read(metadata.text) == metadata.text)
    }

    @Test(arguments: [
        (#"{"a":"1","b":"2","c":"3"}"#, nil),
        (#"{"a":"1","b":"2","c":"3","d":"4"}"#, "overrun(maximumMetadataEntries)"),
        (#"{"a":"1234567890123456789"}"#, nil), (#"{"a":"12345678901234567890"}"#, "overrun(maximumMetadataBytes)"),
        (#"{"a":"ü12345678901234567"}"#, nil), (#"{"a":"ü123456789012345678"}"#, "overrun(maximumMetadataBytes)"),
        (#"{"ü":"1"}"#, "keyNotASCII"), (#"{"\u00fc":"1"}"#, "keyNotASCII"),
        (#"{"a":1}"#, "notStrings"), (#"{"a":{}}"#, "notStrings"), (#"["a"]"#, "notStrings"), ("true", "notStrings"),
        (#""a""#, "notStrings"), ("7", "notStrings"),
    ])
    func `keeps to its limits and has strings only`(text: String, fault: String?) {
        #expect(Self.read(text) == fault ?? text)
    }

    @Test func `is not looked at when its text is far too long`() {
        #expect(Self.read("[" + String(repeating: " ", count: 160) + "]") == "overrun(maximumMetadataBytes)")
    }
}
