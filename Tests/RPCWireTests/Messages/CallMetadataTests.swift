// The metadata of a call as a dictionary and as text.

import JSONCodec
import RPCWire
import Testing

@Suite struct `The metadata of a call` {
    private static func metadata(_ entries: [String: String]) throws -> CallMetadata {
        try metadata(entries.mapValues { CallMetadata.Value($0) })
    }

    private static func metadata(_ values: [String: CallMetadata.Value]) throws(MetadataFault) -> CallMetadata {
        try CallMetadata(values, mostEntries: 3, mostBytes: 20)
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
        #expect(try Self.metadata([String: String]()).text == "{}")
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
        (##"{"#a":"1","-b":"2","#-c":"3"}"##, nil), (##"{"-#a":"1"}"##, "keyMarked"),
        (###"{"##a":"1"}"###, "keyMarked"),
        (#"{"--a":"1"}"#, "keyMarked"), (##"{"#--":"1"}"##, "keyMarked"),
    ])
    func `keeps to its limits and has strings only`(text: String, fault: String?) {
        #expect(Self.read(text) == fault ?? text)
    }

    @Test func `marks what is secret and what goes to the next end only, in front of the key`() throws {
        let values: [String: CallMetadata.Value] = [
            "a": .init("1", isSecret: true), "b": .init("2", isForNextEnd: true), "c": .init("3"),
        ]
        let metadata = try Self.metadata(values)
        #expect(metadata.text == ##"{"#a":"1","-b":"2","c":"3"}"##)
        #expect(metadata.passedOn?.text == ##"{"#a":"1","c":"3"}"##)
        #expect(metadata.passedOn?.passedOn === metadata.passedOn)
        let read = try CallMetadata(reading: Bytes(metadata.text), mostEntries: 3, mostBytes: 20)
        #expect(read.values == values && read.passedOn?.text == metadata.passedOn?.text)
        let both = try Self.metadata(["a": .init("1", isSecret: true, isForNextEnd: true)])
        #expect(both.text == ##"{"#-a":"1"}"## && both.passedOn == nil)
        #expect(try Self.metadata(["a": "1"]).passedOn?.text == #"{"a":"1"}"#)
        // A mark takes a byte at both ends.
        let longest = String(repeating: "x", count: 18)
        #expect(throws: MetadataFault.self) {
            try Self.metadata(["a": .init(longest, isSecret: true, isForNextEnd: true)])
        }
        #expect(throws: Never.self) { try Self.metadata(["a": .init(longest, isForNextEnd: true)]) }
        for key in ["#a", "-a"] { #expect(throws: MetadataFault.self) { try Self.metadata([key: "1"]) } }
    }

    @Test func `leaves the message of a post where it only goes to the next end`() throws {
        func post(_ values: [String: CallMetadata.Value]?, _ params: String) throws -> String {
            let output = JSONOutput()
            MessageWriter.openRequest(method: "a\"b", in: output)
            output.append(raw: params)
            if let values { MessageWriter.write(try Self.metadata(values), in: output) }
            MessageWriter.keepPassedOnMetadata(in: output)
            return String(decoding: output.bytes, as: UTF8.self).replacing(
                #"{"jsonrpc":"2.0","method":"a\"b","params":"#, with: "")
        }
        let params = #"[",\"metadata\":{\"-a\":1}"]"#
        #expect(
            try post(["a": .init("1", isForNextEnd: true), "b": .init("2")], params) == params
                + #","metadata":{"b":"2"}"#)
        #expect(try post(["a": .init("1", isForNextEnd: true)], params) == params)
        #expect(try post(["a": .init("1", isSecret: true)], params) == params + ##","metadata":{"#a":"1"}"##)
        #expect(try post(nil, params) == params)
        #expect(try post(nil, "[]") == "[]")
    }

    @Test func `is not looked at when its text is far too long`() {
        #expect(Self.read("[" + String(repeating: " ", count: 160) + "]") == "overrun(maximumMetadataBytes)")
    }
}
