// Decoding beside Foundation's: which texts fit which types, what errors say, and the listed differences.

import Foundation
import JSONCodec
import Testing

@Suite struct `JSON decoding` {
    private static let numbers = [
        "0", "-0", "1", "-1", "5.0", "1e2", "1E+2", "100e-2", "0.1e1", "1.5", "1e-1", "-0.0", "127", "128", "-128",
        "-129", "255", "256",
        "32768", "65536", "2147483648", "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808",
        "-9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "1e18", "1e19",
        "1e400", "-1e400",
        "0e99999", "1e309", "1.7976931348623157e308", "1.7976931348623159e308", "5e-324", "4.9406564584124654e-324",
        "0.1", "0.30000000000000004", "123456789012345678", "1234567890123456789012", "3.4028235e38", "3.4028236e38",
        "1e-46", "16777217",
        "0.00000000000000000000000000000000000001", "9007199254740993.0", "2.2250738585072011e-308", "8.41e21",
        "9.5e-5", "1e23",
    ]

    /// At the end of a text its bytes are looked at one by one.
    @Test(arguments: [
        "0", "7", "42", "999", "1234", "9999999", "10000000", "-7", "00", "07", "0123456", "+7", "7x", "x7", "12:",
        "/12", " 7", "7 ", "7\n", "7,", "1.", "1e", "-", "\u{663}", "\u{7F}", " ", "",
    ])
    func `an integer is all of a document or with blanks around it`(_ text: String) { agree(Int.self, text) }

    @Test(arguments: numbers)
    func `a number fits the types that it fits with Foundation`(_ text: String) {
        agree(Int.self, text)
        agree(Int8.self, text)
        agree(Int16.self, text)
        agree(Int32.self, text)
        agree(Int64.self, text)
        agree(UInt.self, text)
        agree(UInt8.self, text)
        agree(UInt16.self, text)
        agree(UInt32.self, text)
        agree(UInt64.self, text)
        agree(Double.self, text)
        agree(Float.self, text)
        agree(Decimal.self, text)
        agree(Date.self, text)
        agree(Int?.self, text)
        agree(Bool.self, text)
        agree(String.self, text)
    }

    @Test(arguments: [
        "null", "true", "false", "\"\"", "\"1\"", "[]", "{}", "[1]", "[null]", "[1,null]", "[1,\"x\"]", "[1,2.5]",
        "[[1],[\"x\"]]", "{\"a\":1}",
        "{\"a\":null}", "{\"a\":\"x\"}", "{\"a\":[1,{}]}", "{\"1\":2}", "{\"a\":{\"a\":{\"a\":true}}}",
        "[{\"a\":1},{\"a\":\"x\"}]",
    ])
    func `a value of the wrong kind fails with the same error at the same path`(_ text: String) {
        agree(Int.self, text)
        // Foundation calls a null a type mismatch for Bool and String, and a missing value for every other type.
        if text != "null" {
            agree(Bool.self, text)
            agree(String.self, text)
        }
        agree(Double.self, text)
        agree(UInt8.self, text)
        agree([Int].self, text)
        agree([String].self, text)
        agree([Double].self, text)
        agree([Int?].self, text)
        agree([[Int]].self, text)
        agree([String: Int].self, text)
        agree([String: [Int]].self, text)
        agree([String: [String: Int]].self, text)
        agree([Int: Int].self, text)
        agree([Plain: Int].self, text)
        agree([Pair].self, text)
        agree(Pair.self, text)
        agree(Tree.self, text)
        agree(Choice.self, text)
        agree(Plain.self, text)
        agree(Date.self, text)
        agree(Data.self, text)
        agree(URL.self, text)
        agree(UUID.self, text)
        agree(Decimal.self, text)
        agree([Data].self, text)
        agree([Decimal].self, text)
        agree([URL].self, text)
        agree(DerivedWithSuper.self, text)
        agree(ByHand.self, text)
        agree(Everything.self, text)
        agree(Set<Int>.self, text)
        agree(ClosedRange<Int>.self, text)
    }

    @Test(arguments: [
        "AQID", "AQ==", "AQI=", "AQ", "AQ=", "A===", "=", "AQID\\n", "A QI", "AR==", "AQIDBA", "+/+/", "-_-_", "ü123",
        "\\u0041QID",
    ])
    func `base64 is taken as Foundation takes it`(_ text: String) { agree(Data.self, "\"\(text)\"") }

    @Test(arguments: [
        "http://a/b", "", "a b", "http://[", "%zz", "ü", "http://a:b:c", "\\u0000", "mailto:x@y", "#",
        "http://ex.org/ü?q=ä",
    ])
    func `a URL is taken as Foundation takes it`(_ text: String) { agree(URL.self, "\"\(text)\"") }

    @Test(arguments: [
        "1.5", "123456789012345678901234567890123456789012", "0.1e-5", "1e127", "1e128", "12e127", "1e165", "1e-127",
        "1e-128", "1e-129", "-12.50",
        "340282366920938463463374607431768211455", "340282366920938463463374607431768211456",
        "99999999999999999999999999999999999999",
        "0.123456789012345678901234567890123456789", "10e-129", "0e500", "1000000000000000000000000000000000000000000",
    ])
    func `a decimal is taken as Foundation takes it`(_ text: String) { agree(Decimal.self, text) }

    @Test func `members come in any order, missing or unknown or escaped`() throws {
        let texts = [
            #"{"a":1,"b":"x","c":[1]}"#, #"{"c":[1],"b":"x","a":1}"#, #"{"z":{"y":[{}]},"b":"x","q":1,"a":1}"#,
            #"{"\u0061":1,"\u0062":"x"}"#,
            #"{ "a" : 1 , "b" : null }"#, #"{"b":"x"}"#, #"{"a":1,"c":null,"":0,"ä":1,"longer than eight":2}"#,
            #"{"ab":1,"aa":2,"a":3}"#,
        ]
        for text in texts { agree(Pair.self, text) }
    }

    @Test func `an object of many members is found in whatever order`() throws {
        let names = (0..<300).map { "member \($0 * 7 % 300)" }
        let text = "{" + names.map { "\"\($0)\":\($0.utf8.count)" }.joined(separator: ",") + "}"
        agree([String: Int].self, text)
        let backwards = try ours(Backwards.self, text)
        #expect(backwards.values == (0..<300).reversed().map { "member \($0)".utf8.count })
    }

    @Test func `copies of an unkeyed container go their own way`() throws {
        agree(Peeking.self, #"["x",1,true,[2],null]"#)
    }

    @Test func `the last of duplicate members wins, where Foundation takes the first`() throws {
        #expect(try ours(Pair.self, #"{"a":1,"b":"x","a":2}"#) == Pair(a: 2, b: "x", c: nil))
        #expect(try ours(Pair.self, #"{"a":"no","a":2}"#) == Pair(a: 2, b: nil, c: nil))
        #expect(try ours(Pair.self, #"{"a":1,"\u0061":3}"#) == Pair(a: 3, b: nil, c: nil))
        #expect(throws: DecodingError.self) { try ours(Pair.self, #"{"a":1,"a":"no"}"#) }
        #expect(try ours([String: Int].self, #"{"a":"no","b":1,"a":2}"#) == ["a": 2, "b": 1])
        #expect(try ours(Tree.self, #"{"a":{"a":true,"a":{}},"a":{"a":{"a":{}}}}"#).depth == 4)
        #expect(try ours(Choice.self, #"{"one":{"_0":1,"_0":2}}"#) == .one(2))
        #expect(try ours(Choice.self, #"{"one":{"_0":1},"one":{"_0":3}}"#) == .one(3))
        let many = (0..<100).map { "\"k\($0 % 50)\":\($0)" }.joined(separator: ",")
        #expect(try ours([String: Int].self, "{\(many)}")["k7"] == 57)
        #expect(try foundations(Pair.self, #"{"a":1,"a":2}"#).a == 1)
    }

    @Test func `numbers that Foundation loses on the way through Double are read exactly`() throws {
        #expect(try ours(Int.self, "9223372036854775807.0") == .max)
        #expect(try ours(Int.self, "92233720368547758070e-1") == .max)
        #expect(try ours(Int128.self, "1e20") == 100_000_000_000_000_000_000)
        #expect(try ours(Int128.self, "-170141183460469231731687303715884105728") == .min)
        #expect(try ours(UInt128.self, "340282366920938463463374607431768211455") == .max)
        #expect(throws: DecodingError.self) { try ours(UInt128.self, "340282366920938463463374607431768211456") }
    }

    @Test func `a number is an integer only if it is one, and base64 has its padding at the end`() throws {
        // Foundation rounds the first two to zero, and takes the others as one and two bytes.
        for text in ["1e-400", "2e-324"] {
            #expect(throws: DecodingError.self) { try ours(Int.self, text) }
            #expect(try foundations(Int.self, text) == 0)
        }
        for text in ["\"====\"", "\"AQ=D\""] {
            #expect(throws: DecodingError.self) { try ours(Data.self, text) }
            #expect(throws: Never.self) { try foundations(Data.self, text) }
        }
    }

    @Test func `malformed text is told from text that does not fit`() throws {
        func underlying(_ text: String) -> JSONError? {
            do {
                _ = try ours([Pair].self, text)
            } catch DecodingError.dataCorrupted(let context) {
                return context.underlyingError as? JSONError
            } catch {}
            return nil
        }
        #expect(underlying(#"[{"a":1}"#)?.reason == .unexpectedEnd)
        #expect(underlying(#"[{"a":"x"},]"#)?.offset == 11)
        #expect(underlying(#"[{"a":1}] 2"#)?.reason == .trailingBytes)
        #expect(underlying(#"[{"a":1,"unknown":[01]}]"#) != nil)
        #expect(underlying(#"[{"a":1e400}]"#) == nil)
        #expect(underlying(#"[{"a":"x"}]"#) == nil)
    }

    @Test func `a container kept beyond its decoding fails and reads nothing`() throws {
        let keeper = try ours(Keeper.self, #"{"a":1}"#)
        _ = try ours(Pair.self, #"{"a":2}"#)
        #expect(throws: DecodingError.self) { try keeper.container.decode(Int.self, forKey: AnyKey(stringValue: "a")) }
        #expect(throws: DecodingError.self) { try keeper.decoder.singleValueContainer().decode(Int.self) }
        #expect(!keeper.container.contains(AnyKey(stringValue: "a")))
        #expect(keeper.container.allKeys.isEmpty)
    }

    /// Members that stand in another order than they are asked for, with containers in between.
    private struct AskedForLate: Decodable {
        var z: [Int]
        var x: [Int]
        var y: [[Int]]

        private enum Key: CodingKey { case x, y, z }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            z = try container.decode([Int].self, forKey: .z)
            x = try container.decode([Int].self, forKey: .x)
            y = try container.decode([[Int]].self, forKey: .y)
        }
    }

    @Test func `a text that ends while it is looked ahead in leaves nothing behind for the next`() throws {
        for cut in [#"{"y":[[1],[2"#, #"{"y":[[1],[2],["#, #"{"y":[[[[1]]],[2],{"#] {
            #expect(throws: DecodingError.self) { try ours(AskedForLate.self, cut) }
            let read = try ours(AskedForLate.self, #"{"y":[[10,20,30],[5]],"x":[7],"z":[6]}"#)
            #expect((read.y, read.x, read.z) == ([[10, 20, 30], [5]], [7], [6]))
        }
    }

    @Test func `a reader decodes one value and stands behind it`() throws {
        var text = #"[{"a":1} , {"a":2}]"#
        try text.withUTF8 { bytes in
            var reader = JSONReader(UnsafeRawBufferPointer(bytes))
            try reader.enterArray()
            var sum = 0
            while try reader.nextElement() { sum += try decodeJSON(Pair.self, at: &reader).a }
            try reader.finish()
            #expect(sum == 3)
        }
    }
}
