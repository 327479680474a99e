// Texts that take the square of their length to compare are refused where decoded values compare texts, and nowhere else.

import JSONCodec
import TestSupport
import Testing

@Suite struct `Texts of combining marks` {
    private enum Colour: String, Codable { case red }
    private struct Place: RawRepresentable, Codable, Hashable, CodingKeyRepresentable {
        let rawValue: String
        init(rawValue: String) { self.rawValue = rawValue }
        init?<Key: CodingKey>(codingKey: Key) { self.init(rawValue: codingKey.stringValue) }
        var codingKey: any CodingKey { Name(stringValue: rawValue) }
    }
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
    private struct Loose: Decodable {
        let names: [String]
        init(from decoder: any Decoder) throws {
            names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue)
        }
    }
    private struct Box<Content: Codable & Equatable>: Codable, Equatable { var content: Content }

    private static let most = CombiningMarks.mostInARow
    private static func marks(_ number: Int) -> String { "a" + String(repeating: "\u{0301}", count: number) + "z" }

    private func refuses<Value: Decodable>(
        _ type: Value.Type, _ json: String, _ location: SourceLocation = #_sourceLocation
    ) {
        #expect(sourceLocation: location) {
            _ = try ours(type, json)
        } throws: { error in
            guard case DecodingError.dataCorrupted(let context) = error else { return false }
            return context.debugDescription.contains("more than 30 combining marks in a row")
        }
    }

    @Test func `a name is refused in a dictionary and in a container of any keys`() throws {
        let escaped = "a" + String(repeating: #"\u0301"#, count: Self.most + 1)
        for name in [Self.marks(Self.most + 1), escaped] {
            refuses([String: Int].self, #"{"\#(name)":1}"#)
            refuses([String: [String: Int]].self, #"{"x":{"\#(name)":1}}"#)
            refuses([String: Int].self, #"{"y":1,"y":2,"\#(name)":1}"#)
            refuses([Place: Int].self, #"{"\#(name)":1}"#)
            refuses(Loose.self, #"{"x":2,"\#(name)":1}"#)
        }
        let name = Self.marks(Self.most)
        #expect(try ours([String: Int].self, #"{"\#(name)":1}"#) == [name: 1])
        #expect(try ours([Place: Int].self, #"{"\#(name)":1}"#) == [Place(rawValue: name): 1])
        #expect(try ours(Loose.self, #"{"\#(name)\#(name)":1}"#).names == [name + name])
    }

    @Test func `an element of a set is refused, and a type that is one text`() throws {
        let text = Self.marks(Self.most + 1)
        refuses(Set<String>.self, #"["x","\#(text)"]"#)
        refuses(Colour.self, #""\#(text)""#)
        refuses(Set<Place>.self, #"["\#(text)"]"#)
        #expect(try ours(Set<String>.self, #"["x","x","y"]"#) == ["x", "y"])
        #expect(try ours(Colour.self, #""red""#) == .red)
    }

    @Test func `a text that is only passed on may have any marks`() throws {
        let text = Self.marks(1 << 12)
        let json = #""\#(text)""#
        #expect(try ours(String.self, json).utf8.elementsEqual(text.utf8))
        #expect(try ours(String?.self, json)?.utf8.count == text.utf8.count)
        #expect(try ours([String].self, "[\(json)]")[0].utf8.count == text.utf8.count)
        #expect(try ours([String?].self, "[\(json),null]")[0]?.utf8.count == text.utf8.count)
        #expect(try ours([String: String].self, #"{"x":\#(json)}"#)["x"]?.utf8.count == text.utf8.count)
        #expect(try ours(Box<String>.self, #"{"content":\#(json)}"#).content.utf8.count == text.utf8.count)
        #expect(try ours(Box<String?>.self, #"{"content":\#(json)}"#).content?.utf8.count == text.utf8.count)
    }

    @Test func `letters of any script are no marks`() {
        for text in ["한글 조합", "नमस्ते दुनिया", "สวัสดีชาวโลก", "🏳️‍🌈👩‍👩‍👧‍👦", "שָׁלוֹם"] {
            #expect(!CombiningMarks.areTooMany(in: String(repeating: text, count: 100)))
        }
        #expect(!CombiningMarks.areTooMany(in: String(repeating: "\u{1100}\u{1161}\u{11A8}", count: 100)))
    }
}
