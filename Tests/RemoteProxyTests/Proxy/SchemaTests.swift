// What discovery says of types, against what the codec writes for their values.

import Foundation
import JSONCodec
import Testing

@testable import RemoteProxy

@Suite struct `Types in discovery` {
    private func schema(_ type: String) throws -> String { try text(JSONSchema(swiftType: type)) }

    private func text(_ value: some Encodable) throws -> String {
        let output = JSONOutput()
        try output.encode(value)
        return String(decoding: output.bytes, as: UTF8.self)
    }

    private static let pairs = #"{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}}"#
    private static let object = #"{"type":"object","additionalProperties":{"type":"integer"}}"#

    @Test func `dictionaries are what the wire has`() throws {
        #expect(try text([UUID(): 1]).hasPrefix("[\""))
        #expect(try text([URL(string: "a:b"): 1]).hasPrefix("[\""))
        #expect(try text([UInt8(1): 1]) == "[1,1]")
        #expect(try text([1: 1]) == #"{"1":1}"#)
        for type in [
            "[UUID: Int]", "Dictionary<UUID, Int>", "[Foundation.UUID:Swift.Int]", "[URL: Int]", "[Character: Int]",
        ] {
            #expect(try schema(type) == Self.pairs, "\(type)")
        }
        for type in ["[String: Int]", "[Int: Int]", "Swift.Dictionary<String, Int>"] {
            #expect(try schema(type) == Self.object, "\(type)")
        }
        #expect(try schema("[UInt8: [Int]]").contains(#""anyOf":[{"type":"integer"},{"type":"array""#))
        #expect(try schema("[Color: Int]") == #"{"title":"[Color:Int]"}"#)
    }

    @Test(arguments: ["Int?", "Optional<Int>", "Swift.Optional<Int>", "Optional<Swift.Int>"])
    func `an optional is one however it is spelled`(type: String) throws {
        #expect(JSONSchema(swiftType: type).isOptional)
        #expect(try schema(type) == #"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#)
    }

    @Test func `and so are arrays, with what is in them`() throws {
        for type in ["[Int]", "Array<Int>", "Set<Int>"] {
            #expect(try schema(type) == #"{"type":"array","items":{"type":"integer"}}"#)
        }
        #expect(try schema("[[String: Int]]") == #"{"type":"array","items":\#(Self.object)}"#)
        #expect(try schema("Page<String, [Int: Int]>") == #"{"title":"Page<String,[Int:Int]>"}"#)
        #expect(!JSONSchema(swiftType: "[Int?]").isOptional)
    }
}
