// What an encoder has learned from one value must never show in the next: objects of all kinds are written one after the
// other, and held against texts put together by hand.

import JSONCodec
import TestSupport
import Testing

@Suite struct `Names that are written` {
    private struct Name: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(_ name: String) { stringValue = name }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    private struct Object: Encodable {
        let members: [(name: String, value: Int)]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            for member in members { try container.encode(member.value, forKey: Name(member.name)) }
        }

        /// Of members of one name the last stands.
        var text: String {
            let last = members.enumerated().filter { index, member in
                !members[(index + 1)...].contains { $0.name == member.name }
            }
            return "{" + last.map { "\(escaped($0.element.name)):\($0.element.value)" }.joined(separator: ",") + "}"
        }

        private func escaped(_ name: String) -> String {
            "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
        }
    }

    private static let names =
        (0...30).map { String("abcdefghijklmnopqrstuvwxyz01234".prefix($0)) }
        + (0...10).map { "n\($0)" } + ["a\"", "a/b", "\\", "é", "name of 20 letters///", "ABCDEFGHIJKLMNOPQRST\"U"]

    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func `an object is written alike whatever was written before`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var usual: [String] = []
        for round in 0..<400 {
            // Mostly the names of the last one, with a few others among them.
            if round % 10 == 0 {
                usual = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                    Self.names.randomElement(using: &random) ?? ""
                }
            }
            var names = usual
            for index in names.indices where Int.random(in: 0..<10, using: &random) == 0 {
                names[index] = Self.names.randomElement(using: &random) ?? ""
            }
            let object = Object(members: names.map { ($0, Int.random(in: 0...999, using: &random)) })
            #expect(try ours(object) == object.text)
        }
    }

    /// Writes its only member when its surroundings have gone on.
    private struct Late: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            let later = container.superEncoder(forKey: Name("later"))
            try container.encode(1, forKey: Name("now"))
            var inside = later.container(keyedBy: Name.self)
            try inside.encode(2, forKey: Name("a"))
        }
    }

    /// Has several encoders at work at a time, and so every memory that one of them may have left behind.
    private struct Nested: Encodable {
        let depth: Int

        func encode(to encoder: any Encoder) throws {
            if depth > 0 { #expect(try ours(Nested(depth: depth - 1)) == #"{"b":2,"a":3}"#) }
            try Object(members: [("a", 1), ("b", 2), ("a", 3)]).encode(to: encoder)
        }
    }

    @Test func `a name written twice is found also in memory where something was written late before`() throws {
        for _ in 0..<10 {
            #expect(try ours(Late()) == #"{"later":{"a":2},"now":1}"#)
            #expect(try ours(Nested(depth: 5)) == #"{"b":2,"a":3}"#)
        }
    }

    /// Writes the same member through two containers with keys of different types.
    private struct WrittenByTwo: Encodable {
        let isOpenedFirst: Bool

        private enum First: CodingKey { case a, b, c }
        private enum Second: CodingKey { case b, a }

        func encode(to encoder: any Encoder) throws {
            var first = encoder.container(keyedBy: First.self)
            if isOpenedFirst { _ = encoder.container(keyedBy: Second.self) }
            try first.encode(1, forKey: .a)
            try first.encode(2, forKey: .b)
            var second = encoder.container(keyedBy: Second.self)
            try second.encode(3, forKey: .a)
            try first.encode(4, forKey: .c)
            try second.encode(5, forKey: .b)
        }
    }

    @Test func `a name written twice is found also when the keys are of different types`() throws {
        for _ in 0..<3 {
            #expect(try ours(WrittenByTwo(isOpenedFirst: false)) == #"{"a":3,"c":4,"b":5}"#)
            #expect(try ours(WrittenByTwo(isOpenedFirst: true)) == #"{"a":3,"c":4,"b":5}"#)
        }
    }

    /// Writes a member twice of which the second time fails, and nested values under one name.
    private struct Failing: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            try container.encode(["x": 1], forKey: Name("a"))
            try? container.encode(["x": Double.nan], forKey: Name("a"))
            try? container.encode(["x": Double.nan], forKey: Name("b"))
            try container.encode(2, forKey: Name("b"))
            var list = container.nestedUnkeyedContainer(forKey: Name("c"))
            try list.encode(3)
            var again = container.nestedUnkeyedContainer(forKey: Name("c"))
            try list.encode(4)
            try again.encode(5)
            try container.encode(6, forKey: Name("d"))
        }
    }

    @Test func `a member that could not be written leaves the earlier one, and a later container takes its place`()
        throws
    {
        for _ in 0..<3 {
            #expect(try ours(Failing()) == #"{"a":{"x":1},"b":2,"c":[5],"d":6}"#)
        }
    }

    /// Keeps what it was given for its encoding only.
    private final class Keeper: Encodable {
        private(set) var container: KeyedEncodingContainer<Name>?
        private(set) var list: (any UnkeyedEncodingContainer)?
        private(set) var encoder: (any Encoder)?

        func encode(to encoder: any Encoder) throws {
            self.encoder = encoder
            container = encoder.container(keyedBy: Name.self)
            list = container?.nestedUnkeyedContainer(forKey: Name("a"))
            try list?.encode(1)
        }
    }

    @Test func `a container kept beyond its encoding fails and writes nothing`() throws {
        let keeper = Keeper()
        #expect(try ours(["k": keeper]) == #"{"k":{"a":[1]}}"#)
        #expect(try ours(Nested(depth: 2)) == #"{"b":2,"a":3}"#)
        var (container, list) = (try #require(keeper.container), try #require(keeper.list))
        #expect(throws: EncodingError.self) { try container.encode(2, forKey: Name("b")) }
        #expect(throws: EncodingError.self) { try list.encode(2) }
        #expect(container.codingPath.isEmpty && list.codingPath.isEmpty && list.count == 0)
        #expect(keeper.encoder?.codingPath.isEmpty == true)
        #expect(throws: EncodingError.self) {
            var value = try #require(keeper.encoder).singleValueContainer()
            try value.encode(2)
        }
        #expect(throws: EncodingError.self) {
            var late = try #require(keeper.encoder).unkeyedContainer()
            try late.encode(2)
        }
    }

    @Test func `a list of numbers with one that has no text is refused with its place, and leaves nothing behind`()
        throws
    {
        let output = JSONOutput()
        try output.encode([1.5, 2])
        let error = #expect(throws: EncodingError.self) { try output.encode(["a": ["b": [1.5, .nan, 2]]]) }
        guard case .invalidValue(_, let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue } == ["a", "b", "1"])
        #expect(String(decoding: output.bytes, as: UTF8.self) == "[1.5,2]")
    }

    @Test func `every control character has its escape, and is read back`() throws {
        let short: [UInt8: String] = [0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r"]
        for byte in UInt8(0)..<0x20 {
            let digits = String(byte, radix: 16)
            let escaped = short[byte] ?? "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            let text = "a\(Character(Unicode.Scalar(byte)))b"
            #expect(try ours(text) == "\"a\(escaped)b\"")
            #expect(try ours(String.self, ours(text)) == text)
        }
    }

    @Test func `a text of any length has its escapes wherever they stand`() throws {
        let characters: [(String, String)] = [
            ("\"", "\\\""), ("\\", "\\\\"), ("/", "/"), ("\n", "\\n"), ("\u{1}", "\\u0001"), ("é", "é"), ("", ""),
        ]
        for length in 0...45 {
            for place in 0...length {
                let (before, after) = (
                    String(repeating: "x", count: place), String(repeating: "y", count: length - place)
                )
                for (character, escaped) in characters {
                    let isRight = try ours(before + character + after) == "\"\(before)\(escaped)\(after)\""
                    if !isRight { Issue.record("\(length), \(place), \(character)") }
                }
            }
        }
    }
}
