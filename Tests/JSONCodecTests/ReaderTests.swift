// The reader by itself: the cursor's contract, RFC 8259 at its edges, and what is said about a text that is not JSON.

import JSONCodec
import Testing

@Suite struct `JSON reader` {
    @Test func `a cursor walks an envelope without building a value`() throws {
        try read(#" { "id" : 7 , "p\u0061rams" : [ 1 , {"x":[]} ] , "text":"a\nb" } "#) { reader in
            try reader.enterObject()
            let id = try reader.nextMember()
            #expect(id?.matches("id" as StaticString) == true)
            #expect(id?.matches("i" as StaticString) == false)
            let kind = try reader.peek()
            #expect(kind == .number)
            let integer = try reader.readInt64()
            #expect(integer == 7)
            let params = try reader.nextMember()
            #expect(params?.matches("params" as StaticString) == true)
            #expect(params?.matches("params" as String) == true)
            let spelled = try params?.string()
            #expect(spelled == "params")
            let range = try reader.skipValue()
            #expect(range == 30..<46)
            _ = try reader.nextMember()
            let string = try reader.readString()
            #expect(string == "a\nb")
            let end = try reader.nextMember()
            #expect(end == nil)
            try reader.finish()
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("-1", -1), ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("9007199254740993", 9_007_199_254_740_993),
            ("9223372036854775808", nil), ("-9223372036854775809", nil), ("1.0", nil), ("1e2", nil), ("-0", nil),
            ("123456789012345678901", nil),
        ] as [(String, Int64?)])
    func `an integer is read exactly, or left where it stands`(_ text: String, _ expected: Int64?) throws {
        try read(text) { reader in
            let integer = try reader.readInt64()
            #expect(integer == expected)
            #expect(reader.position == (expected == nil ? 0 : text.utf8.count))
        }
    }

    @Test(arguments: [
        ("", 0), (" ", 1), ("[1,]", 3), ("[1 2]", 3), ("{\"a\" 1}", 5), ("{\"a\":1,}", 7), ("{a:1}", 1), ("01", 1),
        ("-", 1), ("1.", 2),
        ("1.e1", 2), (".5", 0), ("+1", 0), ("1e", 2), ("1e+", 3), ("tru", 3), ("trux", 3), ("nul", 3), ("\"\u{1}\"", 1),
        ("\"abcdefgh\u{1f}\"", 9),
        ("\"\\x\"", 1), ("\"\\u12\"", 1), ("\"\\ud800\"", 1), ("\"\\ud800\\u0041\"", 1), ("\"\\udc00\"", 1),
        ("\"abc", 4), ("[", 1), ("{\"a\":", 5),
        ("1 1", 2), ("[]]", 2), ("\u{FEFF}1", 0), ("1\u{A0}", 1), ("NaN", 0), ("//", 0), ("'a'", 0), ("\"\\", 2),
        ("{1:2}", 1), ("\u{c}1", 0),
    ])
    func `a text that is not JSON is refused at the byte where it stops being it`(_ text: String, _ offset: Int) {
        #expect(refusal(of: Array(text.utf8))?.offset == offset, "\(text)")
    }

    @Test(
        arguments: [
            [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80], [0xE2, 0x82],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0xFF], [0xE0, 0x80, 0x80],
        ] as [[UInt8]])
    func `bytes that are no UTF-8 are refused wherever a string has them`(_ bytes: [UInt8]) {
        for padding in 0...17 {
            let text = [0x22] + [UInt8](repeating: 0x61, count: padding) + bytes + [0x62, 0x22]
            #expect(refusal(of: text)?.reason == .invalidUTF8)
            #expect(refusal(of: text)?.offset == padding + 1)
        }
    }

    @Test func `strings of every length and alignment come through`() throws {
        for length in 0...40 {
            for special in ["", "\\\"", "ü", "\\ud83d\\ude00"] {
                for place in [0, length / 2, length] {
                    let start = String(repeating: "a", count: place)
                    let end = String(repeating: "b", count: length - place)
                    let meant = ["": "", "\\\"": "\"", "ü": "ü"][special] ?? "\u{1F600}"
                    try read("\"\(start)\(special)\(end)\"") { reader in
                        let string = try reader.readString()
                        #expect(string == start + meant + end)
                    }
                }
            }
        }
    }

    /// Long texts are looked at in strides; a stride that is not clean is looked at again in smaller ones.
    @Test func `a text of few characters is a String like any other`() throws {
        for length in 0...20 {
            let text = String("abcdefghijklmnopqrstu".prefix(length))
            for behind in ["]", ",1]", " ,\"0123456789\" ]"] {
                let json = Array("[\"\(text)\"\(behind)".utf8)
                var read = try json.withUnsafeBytes { bytes in
                    var reader = JSONReader(bytes)
                    try reader.enterArray()
                    _ = try reader.nextElement()
                    return try decodeJSON(String.self, at: &reader)
                }
                #expect(read == text && read.hashValue == text.hashValue && Array(read.utf8) == Array(text.utf8))
                #expect(read.count == length && read.isEmpty == (length == 0) && read < text + "!")
                read += "é"
                #expect(read == text + "é")
            }
        }
    }

    @Test func `in a long string nothing is overlooked, wherever it stands`() throws {
        let length = 230
        for place in 0..<length {
            for byte in [0x00, 0x1F, 0x22, 0x5C, 0x80, 0xFF] as [UInt8] {
                var text = [UInt8](repeating: 0x7F, count: length + 2)
                (text[0], text[length + 1]) = (0x22, 0x22)
                text[place + 1] = byte
                #expect(refusal(of: text) != nil, "\(byte) at \(place)")
            }
            var characters = Array(repeating: "/", count: 3) + Array(repeating: "x", count: length)
            for special in ["\n", "\"", "\\", "/", "\u{1F}", "ü", "\u{1F600}"] {
                characters[place] = special
                let meant = characters.joined()
                let output = JSONOutput()
                try output.encode(meant)
                let again = try decodeJSON(String.self, from: output.bytes)
                #expect(again == meant)
            }
        }
    }

    @Test func `depth is limited to the value given and the error says so`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            Array(repeating: UInt8(ascii: "["), count: depth) + Array(repeating: UInt8(ascii: "]"), count: depth)
        }
        #expect(refusal(of: nested(512)) == nil)
        #expect(refusal(of: nested(513)) == JSONError(offset: 512, reason: .tooDeep(limit: 512)))
        #expect(refusal(of: nested(8), depth: 8) == nil)
        #expect(refusal(of: nested(9), depth: 8)?.reason == .tooDeep(limit: 8))
        #expect(refusal(of: nested(1025), depth: .max)?.reason == .tooDeep(limit: 1024))
    }

    @Test func `objects and arrays are told apart at every depth`() {
        /// Every third level is an object, or every level but the third. The wrong bracket closes one of them.
        func nested(_ isThird: Bool, wrong: Int? = nil) -> String {
            let isObject = (0..<200).map { ($0 % 3 == 0) == isThird }
            let closing = isObject.enumerated().map { level, isObject in isObject == (level != wrong) ? "}" : "]" }
            return isObject.map { $0 ? #"{"a":"# : "[" }.joined() + "1" + closing.reversed().joined()
        }
        #expect(refusal(of: Array("[\(nested(true)),\(nested(false))]".utf8)) == nil)
        for level in 0..<200 {
            #expect(refusal(of: Array("[\(nested(true)),\(nested(false, wrong: level))]".utf8)) != nil)
        }
    }

    @Test func `a number is limited to 1,024 characters`() {
        #expect(refusal(of: Array(repeating: UInt8(ascii: "1"), count: 1024)) == nil)
        #expect(refusal(of: Array(repeating: UInt8(ascii: "1"), count: 1025))?.reason == .numberTooLong(limit: 1024))
    }

    @Test func `an error says what and where`() {
        let error = refusal(of: Array("[1;2]".utf8))
        #expect(error.map { "\($0)" } == "';' where a comma or ] was expected at byte 2")
        #expect(refusal(of: []).map { "\($0)" } == "the text ends inside a value at byte 0")
    }

    @Test func `every cut of a document is refused`() {
        let text = Array(#"{"a":[1.5e-3,true,null,"\u00e9ü"],"b":{}}"#.utf8)
        for length in 0..<text.count { #expect(refusal(of: Array(text[..<length])) != nil) }
        #expect(refusal(of: text) == nil)
    }

    private func read(_ text: String, _ body: (inout JSONReader) throws -> Void) throws {
        var text = text
        try text.withUTF8 { bytes in
            var reader = JSONReader(UnsafeRawBufferPointer(bytes))
            try body(&reader)
        }
    }

    private func refusal(of text: [UInt8], depth: Int = 512) -> JSONError? {
        text.withUnsafeBytes { bytes in
            var reader = JSONReader(bytes, maximumDepth: depth)
            do throws(JSONError) {
                _ = try reader.skipValue()
                try reader.finish()
                return nil
            } catch { return error }
        }
    }
}
