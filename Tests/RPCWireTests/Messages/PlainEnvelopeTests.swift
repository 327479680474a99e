// The short way through a message of the usual spelling says what the long way says, or nothing.

import JSONCodec
import Testing

@testable import RPCWire

struct PlainEnvelopeTests {
    /// As our own ends write them.
    static let usual = [
        #"{"jsonrpc":"2.0","method":"Calculator.add","params":[2,3],"id":1}"#,
        #"{"jsonrpc":"2.0","method":"Calculator.add","params":[-2,30],"timeout":30000,"id":17}"#,
        #"{"jsonrpc":"2.0","method":"Log.add","params":["a line",[1,{"b":null}]],"number":12}"#,
        #"{"jsonrpc":"2.0","method":"Log.clear","params":[],"timeout":0,"number":3,"id":4}"#,
        #"{"jsonrpc":"2.0","method":"rpc.received","params":{"requests":64,"replies":0}}"#,
        #"{"jsonrpc":"2.0","id":1,"result":5}"#, #"{"jsonrpc":"2.0","id":20,"result":null}"#,
        #"{"jsonrpc":"2.0","id":300,"result":{"name":"é","list":[1.5,-0,true,"\u00e9"]}}"#,
        #"{"jsonrpc":"2.0","id":1,"result":"text"}"#,
    ]

    private static func agree(_ frame: Bytes, _ decoder: MessageDecoder) -> Bool {
        let message = summary(decoder.decodeAnySpelling(frame))
        let forItself =
            decoder.decodeRequest(frame).map { Message.request(Request($0, in: frame)) }
            ?? decoder.decodeReply(frame).map {
                .result(id: .integer($0.number), value: $0.value(insteadOf: frame))
            }
        return summary(decoder.decode(frame)) == message && forItself.map { summary(.single($0)) == message } != false
    }

    @Test func `a request is read for itself, and nothing else is`() {
        let requests = Self.usual.filter { MessageDecoder().decodeRequest(Bytes($0)) != nil }
        #expect(requests == Self.usual.filter { $0.contains("method") })
        // A ping: no call.
        #expect(
            MessageDecoder().decodeRequest(Bytes(#"{"jsonrpc":"2.0","method":"rpc.ping","params":[],"id":-1}"#)) == nil)
    }

    @Test func `a reply is read for itself, and nothing else is`() {
        let replies = Self.usual.filter { MessageDecoder().decodeReply(Bytes($0)) != nil }
        #expect(replies == Self.usual.filter { $0.contains("result") })
        // Of a ping: no reply to a call.
        #expect(MessageDecoder().decodeReply(Bytes(#"{"jsonrpc":"2.0","id":-1,"result":null}"#)) == nil)
    }

    @Test(arguments: usual)
    func `both ways agree about what we write ourselves`(text: String) {
        #expect(Self.agree(Bytes(text), MessageDecoder()))
        #expect(!summary(text)[0].hasPrefix("refused"))
    }

    @Test(arguments: usual)
    func `the short way is taken`(text: String) throws {
        let frame = Bytes(text)
        try frame.withUnsafeBytes { bytes in
            var plain = try #require(PlainEnvelope(bytes, maximumDepth: 512))
            #expect(plain.message(in: frame) != nil)
        }
    }

    @Test(arguments: usual)
    func `and about every beginning of it, with and without the end`(text: String) {
        for length in 0..<text.utf8.count {
            let beginning = Array(text.utf8.prefix(length))
            for end in ["", "}", " }", "1}", "}}"] {
                let frame = (beginning + Array(end.utf8)).withUnsafeBytes { Bytes(copying: $0) }
                #expect(Self.agree(frame, MessageDecoder()), "\(frame)")
            }
        }
    }

    @Test(arguments: usual)
    func `and with any byte another, one more or one less`(text: String) {
        let bytes = Array(text.utf8)
        for at in bytes.indices {
            for byte in Array(" 0-19.eE\"\\,:[]{}x\n\u{1}".utf8) + [0xC3, 0xFF, 0] {
                for changed in [bytes[..<at] + [byte] + bytes[(at + 1)...], bytes[..<at] + [byte] + bytes[at...]] {
                    let frame = Array(changed).withUnsafeBytes { Bytes(copying: $0) }
                    if !Self.agree(frame, MessageDecoder()) { Issue.record("\(frame)") }
                }
            }
            let shorter = Array(bytes[..<at] + bytes[(at + 1)...]).withUnsafeBytes { Bytes(copying: $0) }
            if !Self.agree(shorter, MessageDecoder()) { Issue.record("\(shorter)") }
        }
    }

    @Test(arguments: [
        "0", "00", "01", "-1", "-0", "999999999999999999", "1000000000000000000", "9223372036854775807",
        "9223372036854775808", "1.0", "1e2", "null", #""1""#, "[]",
    ])
    func `and about every number`(number: String) {
        for text in [
            #"{"jsonrpc":"2.0","method":"m","params":[\#(number)],"timeout":1,"number":2,"id":3}"#,
            #"{"jsonrpc":"2.0","method":"m","params":[1],"timeout":\#(number),"number":2,"id":3}"#,
            #"{"jsonrpc":"2.0","method":"m","params":[1],"timeout":1,"number":\#(number),"id":3}"#,
            #"{"jsonrpc":"2.0","method":"m","params":[1],"id":\#(number)}"#,
            #"{"jsonrpc":"2.0","id":\#(number),"result":1}"#,
            #"{"jsonrpc":"2.0","id":1,"result":\#(number)}"#,
        ] { #expect(Self.agree(Bytes(text), MessageDecoder()), "\(text)") }
    }

    @Test(arguments: 1...20)
    func `and about numbers of every length, wherever they stand`(length: Int) {
        let digits = "12345678901234567890".prefix(length)
        for number in [
            "\(digits)", "-\(digits)", "0\(digits)", "\(digits)/", "\(digits):", "\(digits).5", "\(digits)e1",
        ] {
            for text in [
                #"{"jsonrpc":"2.0","method":"m","params":[\#(number),\#(number)],"id":\#(number)}"#,
                #"{"jsonrpc":"2.0","method":"m","params":[\#(number)],"id":1}"#,
                #"{"jsonrpc":"2.0","method":"m","params":[1],"timeout":\#(number),"id":3}"#,
                #"{"jsonrpc":"2.0","method":"m","params":{"a":[\#(number),"\#(number)"]},"id":\#(number)}"#,
                #"{"jsonrpc":"2.0","id":\#(number),"result":1}"#, #"{"jsonrpc":"2.0","id":1,"result":\#(number)}"#,
                #"{"jsonrpc":"2.0","id":1,"result":[\#(number)]}"#,
            ] { #expect(Self.agree(Bytes(text), MessageDecoder()), "\(text)") }
        }
    }

    @Test(arguments: 0...5)
    func `and about how deep a message may be`(depth: Int) {
        for text in Self.usual { #expect(Self.agree(Bytes(text), MessageDecoder(maximumDepth: depth)), "\(text)") }
    }
}
