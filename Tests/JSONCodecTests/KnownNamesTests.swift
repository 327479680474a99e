// What a decoder has learned from one text must never show in the next: every text is decoded before and after every
// other one, and beside Foundation.

import Foundation
import JSONCodec
import TestSupport
import Testing

@Suite struct `Names that are known` {
    private struct Person: Codable, Equatable {
        var id: Int
        var name: String
        var e: Bool?
        var nickname: String?
        var thirteenChars: Double
        var fourteenLetter: [String]
    }

    /// The same names at other places, and others that begin alike.
    private struct Pet: Codable, Equatable {
        var name: String
        var id: Int
        var nick: String?
        var thirteenCharz: Int?
    }

    private static let usual =
        #"{"id":1,"name":"Ada","e":true,"nickname":"A","thirteenChars":2.5,"fourteenLetter":["x","y"]}"#

    private static let texts = [
        usual,
        #"{"id":2,"name":"Bob","thirteenChars":3,"fourteenLetter":[]}"#,
        #"{"id": 3, "name": "Cy", "e": null, "nickname": null, "thirteenChars": -0.5, "fourteenLetter": [ "x", "y" ]}"#,
        #"{ "id" : 4 , "name" : "Di" ,"thirteenChars":1e1 , "fourteenLetter" :[ ] }"#,
        #"{"fourteenLetter":["z"],"thirteenChars":7,"nickname":"N","e":false,"name":"Ed","id":5}"#,
        #"{"id":6,"more":{"id":7,"name":["Fa"]},"name":"Fa","thirteenChars":0.125,"fourteenLetter":["\u0041"],"e":true}"#,
        #"{"\u0069d":8,"na\u006de":"Gus","thirteenChars":1,"fourteenLetter":[]}"#,
        #"{"idd":9,"i":10,"nam":"H","name":"Hal","id":11,"thirteenChars":1,"fourteenLetter":[]}"#,
        #"{"id" 12,"name":"Ida","thirteenChars":1,"fourteenLetter":[]}"#,
        #"{"id":12"name":"Ida","thirteenChars":1,"fourteenLetter":[]}"#,
        #"{"id":12,,"name":"Ida","thirteenChars":1,"fourteenLetter":[]}"#,
        #"{"id":"name":"Ida","thirteenChars":1,"fourteenLetter":[]}"#,
        #"{"name":"Jo","id":13}"#,
        #"{"name":"Ka","id":14,"nick":"k","thirteenCharz":1}"#,
        #"{"id":15}"#, "{}", #"{"id":}"#, #"{"name":"#, #"[{"id":1}]"#,
    ]

    @Test(arguments: texts)
    func `a text is read alike whatever was read before`(_ text: String) throws {
        for other in Self.texts {
            _ = try? ours(Person.self, other)
            agree(Person.self, text)
            _ = try? ours(Pet.self, other)
            agree(Pet.self, text)
            agree([Person].self, "[\(other),\(text)]")
            agree([Pet].self, "[\(other),\(text)]")
        }
    }

    @Test func `a text that ends anywhere is refused`() throws {
        let bytes = Array(Self.usual.utf8)
        #expect(try ours(Person.self, Self.usual).thirteenChars == 2.5)
        for length in 0..<bytes.count {
            // In memory of its own, so that a sanitizer sees who reads on.
            let start = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 1)
            defer { start.deallocate() }
            start.copyBytes(from: bytes[..<length])
            #expect(throws: DecodingError.self) { try decodeJSON(Person.self, from: UnsafeRawBufferPointer(start)) }
        }
    }

    @Test func `the last of two members of an expected name wins`() throws {
        for _ in 0..<3 {
            #expect(try ours(Pet.self, #"{"name":"a","id":1}"#) == Pet(name: "a", id: 1))
            #expect(try ours(Pet.self, #"{"name":"a","id":1,"name":"b"}"#) == Pet(name: "b", id: 1))
            #expect(try ours(Pet.self, #"{"name":"a","name":"b","id":1,"id":2}"#) == Pet(name: "b", id: 2))
            #expect(try ours(Pet.self, #"{"name":"a","n\u0061me":"b","id":1}"#) == Pet(name: "b", id: 1))
        }
    }

    /// Reads the same member through two containers with keys of different types.
    private struct ReadByTwo: Decodable, Equatable {
        var values: [Int]

        private enum First: CodingKey { case a, b }
        private enum Second: CodingKey { case b, a }

        init(from decoder: any Decoder) throws {
            let first = try decoder.container(keyedBy: First.self)
            values = [try first.decode(Int.self, forKey: .a)]
            let second = try decoder.container(keyedBy: Second.self)
            values.append(try second.decode(Int.self, forKey: .b))
            values.append(try second.decode(Int.self, forKey: .a))
        }
    }

    @Test func `the last of two members wins also when they are expected by keys of different types`() throws {
        for _ in 0..<3 {
            #expect(try ours(ReadByTwo.self, #"{"a":1,"b":2}"#).values == [1, 2, 1])
            #expect(try ours(ReadByTwo.self, #"{"a":1,"b":2,"a":3}"#).values == [3, 2, 3])
            #expect(try ours(ReadByTwo.self, #"{"a":1,"a":3,"b":2}"#).values == [3, 2, 3])
        }
    }

    /// Asks for members in an order of its own.
    private struct Asked: Decodable {
        @TaskLocal static var names: [String] = []
        var values: [Int?] = []

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: JSONName.self)
            for name in Self.names {
                values.append(try container.decodeIfPresent(Int.self, forKey: JSONName(stringValue: name)))
            }
        }
    }

    private static let names =
        (0...26).map { String("abcdefghijklmnopqrstuvwxyz".prefix($0)) } + (0...9).map { "n\($0)" } + [
            "é", "A name of 20 bytes..",
        ]

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `members are found alike whatever was asked for before`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var usual: [String] = []
        for round in 0..<400 {
            // Mostly the members of the last one in their order, with a few others among them, or missing, or twice.
            if round % 10 == 0 {
                usual = Self.names.shuffled(using: &random).dropLast(
                    Int.random(in: 0..<Self.names.count, using: &random))
            }
            var written = usual
            for index in written.indices where Int.random(in: 0..<10, using: &random) == 0 {
                written[index] = Self.names.randomElement(using: &random) ?? ""
            }
            let members = written.map { ($0, Int.random(in: 0...999, using: &random)) }
            let text = "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
            let last = Dictionary(members) { $1 }
            let asked = round % 3 == 0 ? usual.shuffled(using: &random) : usual
            let found = try Asked.$names.withValue(asked) { try ours(Asked.self, text) }
            #expect(found.values == asked.map { last[$0] }, "\(text)")
        }
    }

    @Test func `a name that needs escapes is not taken for text without them`() throws {
        for _ in 0..<3 {
            #expect(try ours(Odd.self, #"{"a\"":1,"b\\":2}"#) == Odd(quote: 1, backslash: 2))
            #expect(throws: DecodingError.self) { try ours(Odd.self, #"{"a"":1,"b\\":2}"#) }
            #expect(throws: DecodingError.self) { try ours(Odd.self, #"{"a\"":1,"b\":2}"#) }
        }
    }

    private struct Odd: Codable, Equatable {
        var quote: Int
        var backslash: Int

        enum CodingKeys: String, CodingKey {
            case quote = "a\""
            case backslash = "b\\"
        }
    }

    /// Reads its value as a whole first, then member by member, and the other way round.
    private struct TwiceRead: Decodable, Equatable {
        var whole: [String: Int]
        var first: Int
        var second: Int

        init(from decoder: any Decoder) throws {
            let early = try decoder.container(keyedBy: JSONName.self)
            first = try early.decode(Int.self, forKey: JSONName(stringValue: "a"))
            whole = try decoder.singleValueContainer().decode([String: Int].self)
            second = try decoder.container(keyedBy: JSONName.self).decode(Int.self, forKey: JSONName(stringValue: "b"))
        }
    }

    private struct ThenMembers: Decodable, Equatable {
        var whole: [String: Int]
        var member: Int

        init(from decoder: any Decoder) throws {
            whole = try decoder.singleValueContainer().decode([String: Int].self)
            member = try decoder.container(keyedBy: JSONName.self).decode(Int.self, forKey: JSONName(stringValue: "b"))
        }
    }

    private struct JSONName: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test func `a value is read as a whole and by its members`() throws {
        let text = #"[{"a":1,"b":2},{"b":4,"a":3}]"#
        agree([TwiceRead].self, text)
        agree([ThenMembers].self, text)
        #expect(try ours([TwiceRead].self, text).map(\.second) == [2, 4])
        #expect(try ours([ThenMembers].self, text).map(\.member) == [2, 4])
    }

    @Test(arguments: [
        "[]", "[ ]", "[1]", "[ 1 , 2 ]", "[1,]", "[,1]", "[1 2]", "[1", "[", "[1,2,3,4,5,6,7,8,9,10,11]",
        "[1.5,-2,0.25e1]",
        "[.5]", "[1e5]", "[-0]", "[-0.0]", "[123456789012345678]",
        "[0.000000000000001]",
        "[12345678901234567]", "[1234567890.123456]", "[null]", "[true]", "[\"a\"]", "[ \"a\" , \"\\n\",\"\" ]",
        "[\"a\",1]",
        "[\"\u{E9}\"]", "[\"0123456789012345678901234567890123456789\",\"0123456789\\u0041\"]", "[\"a]", "[[1]]", "[\"",
        "{\"a\":1}",
    ])
    func `an array of tokens is read as Foundation reads it`(_ text: String) {
        // Foundation takes a comma behind the last element.
        if text != "[1,]" {
            agree([Int].self, text)
            agree([Double].self, text)
            agree([String].self, text)
            agree([String: [Double]].self, "{\"b\": \(text) }")
        }
        #expect(throws: DecodingError.self) { try ours([Int].self, text + ",") }
    }

    @Test(arguments: ["[01]", "[-]", "[1.]", "[1.2.3]", "[-01.5]", "[1.5", "[1.", "[1", "[1e]", "[+1]", "[00]"])
    func `an array of what are no numbers is refused`(_ text: String) {
        #expect(throws: DecodingError.self) { try ours([Int].self, text) }
        #expect(throws: DecodingError.self) { try ours([Double].self, text) }
    }

    @Test func `a short number is the one nearest to its text`() throws {
        var random = Random(seed: 5)
        for _ in 0..<20_000 {
            let digits = String(random.next() % 10_000_000_000_000_000 >> (random.next() % 50))
            let place = digits.index(digits.startIndex, offsetBy: Int(random.next() % UInt64(digits.count)))
            let whole = String(Int(digits[..<place]) ?? 0)
            let text = (random.next() % 2 == 0 ? "-" : "") + whole + "." + digits[place...]
            // With something behind it, since a number at the end of a text takes another way.
            #expect(try ours([Double].self, "[\(text),\(text) ]") == [Double(text), Double(text)], "\(text)")
        }
    }
}
