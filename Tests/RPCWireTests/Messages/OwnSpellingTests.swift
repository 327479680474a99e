// A message of our own spelling is read as one of any other spelling is.

import JSONCodec
import Testing

@testable import RPCWire

struct OwnSpellingTests {
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

    private static func agree(_ frame: Bytes, _ reader: MessageReader) -> Bool {
        summary(reader.read(frame)) == summary(reader.readAnySpelling(frame))
    }

    /// Whether a message is read in a straight line.
    private static func isOwn(_ text: String) -> Bool {
        let frame = Bytes(text)
        return frame.withUnsafeBytes { bytes in
            guard var own = OwnSpelling(bytes, maximumDepth: 512), own.pass(#"{"jsonrpc":"2.0","#) else { return false }
            return own.pass(#""method":""#) ? own.request() != nil : own.pass(#""id":"#) && own.result() != nil
        }
    }

    @Test(arguments: usual)
    func `both ways agree about what we write ourselves`(text: String) {
        #expect(Self.agree(Bytes(text), MessageReader()))
        #expect(!summary(text)[0].hasPrefix("refused"))
    }

    @Test(arguments: usual)
    func `the short way is taken`(text: String) {
        #expect(Self.isOwn(text))
    }

    @Test func `a ping is neither a call nor a reply to one, and not read that way`() {
        #expect(!Self.isOwn(#"{"jsonrpc":"2.0","method":"rpc.ping","params":[],"id":-1}"#))
        #expect(!Self.isOwn(#"{"jsonrpc":"2.0","id":-1,"result":null}"#))
    }

    @Test(arguments: usual)
    func `and about every beginning of it, with and without the end`(text: String) {
        for length in 0..<text.utf8.count {
            let beginning = Array(text.utf8.prefix(length))
            for end in ["", "}", " }", "1}", "}}"] {
                let frame = (beginning + Array(end.utf8)).withUnsafeBytes { Bytes(copying: $0) }
                #expect(Self.agree(frame, MessageReader()), "\(frame)")
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
                    if !Self.agree(frame, MessageReader()) { Issue.record("\(frame)") }
                }
            }
            let shorter = Array(bytes[..<at] + bytes[(at + 1)...]).withUnsafeBytes { Bytes(copying: $0) }
            if !Self.agree(shorter, MessageReader()) { Issue.record("\(shorter)") }
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
        ] { #expect(Self.agree(Bytes(text), MessageReader()), "\(text)") }
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
            ] { #expect(Self.agree(Bytes(text), MessageReader()), "\(text)") }
        }
    }

    @Test(arguments: 0...5)
    func `and about how deep a message may be`(depth: Int) {
        for text in Self.usual { #expect(Self.agree(Bytes(text), MessageReader(maximumDepth: depth)), "\(text)") }
    }
}
