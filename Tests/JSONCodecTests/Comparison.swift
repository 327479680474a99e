// Codes values with the codec and with Foundation, for tests that hold one to the other.

import Foundation
import JSONCodec
import Testing

/// What a coder made of something: a result, or the kind of its error and where it happened.
enum Outcome<Value> {
    case value(Value)
    case failure(String)

    init(_ body: () throws -> Value) {
        do { self = .value(try body()) } catch { self = .failure(Outcome.summary(of: error)) }
    }

    var value: Value? { if case .value(let value) = self { value } else { nil } }
    var failure: String? { if case .failure(let text) = self { text } else { nil } }

    private static func summary(of error: any Error) -> String {
        switch error {
        case DecodingError.typeMismatch(_, let context): "typeMismatch at \(path(context.codingPath))"
        case DecodingError.valueNotFound(_, let context): "valueNotFound at \(path(context.codingPath))"
        case DecodingError.keyNotFound(let key, let context):
            "keyNotFound \(key.stringValue) at \(path(context.codingPath))"
        // Foundation leaves the path of some of these empty.
        case DecodingError.dataCorrupted: "dataCorrupted"
        case EncodingError.invalidValue(_, let context): "invalidValue at \(path(context.codingPath))"
        default: "\(error)"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}

func ours<Value: Encodable>(_ value: Value) throws -> String {
    let output = JSONOutput()
    try output.encode(value)
    return String(decoding: output.bytes, as: UTF8.self)
}

func ours<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    var text = text
    return try text.withUTF8 { try decodeJSON(type, from: UnsafeRawBufferPointer($0)) }
}

func foundations<Value: Encodable>(_ value: Value) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

func foundations<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
}

/// A text with the members of every object in the order of their names: Foundation's order is any.
func sorted(_ text: String) throws -> String {
    let object = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
    let data = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .fragmentsAllowed])
    return String(decoding: data, as: UTF8.self)
}

/// Expects that a text gives the same value or the same error with either coder.
func agree<Value: Decodable & Equatable>(
    _ type: Value.Type, _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) {
    let mine = Outcome { try ours(type, text) }
    let theirs = Outcome { try foundations(type, text) }
    #expect(mine.value == theirs.value, "\(type) \(text) \(mine.failure ?? "")", sourceLocation: sourceLocation)
    #expect(mine.failure == theirs.failure, "\(type) \(text)", sourceLocation: sourceLocation)
}
