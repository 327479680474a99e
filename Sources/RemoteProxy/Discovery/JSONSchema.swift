// A Swift type as JSON Schema draft 7, from its spelling in the protocol. Types of the user's own are only named. Their
// shape depends on their `Codable` conformance, which the spelling does not show.

indirect enum JSONSchema: Encodable {
    case type(String)
    case null
    case array(JSONSchema)
    case dictionary(JSONSchema)
    /// A dictionary with keys that cannot be names of members. Swift encodes it as an array of keys and values in turn.
    case pairs(key: JSONSchema, value: JSONSchema)
    case optional(JSONSchema)
    case named(String)

    init(swiftType: String) {
        self.init(SwiftTypeText(swiftType.filter { !$0.isWhitespace }))
    }

    private init(_ type: SwiftTypeText) {
        switch type.shape {
        case .optional(let wrapped): self = .optional(JSONSchema(wrapped))
        case .array(let element): self = .array(JSONSchema(element))
        case .dictionary(let key, let value):
            self = Self.dictionary(JSONSchema(key), JSONSchema(value), of: key, in: type)
        case .name(let name): self = Self.simple(name)
        }
    }

    private static let integers: Set = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Int128", "UInt128",
    ]

    private static func simple(_ name: String) -> JSONSchema {
        if integers.contains(name) { return .type("integer") }
        return switch name {
        case "Double", "Float", "Decimal": .type("number")
        case "String", "URL", "UUID", "Data", "Character": .type("string")
        case "Bool": .type("boolean")
        case "Void", "()": .null
        default: .named(name)
        }
    }

    private static func dictionary(
        _ keySchema: JSONSchema, _ value: JSONSchema, of key: SwiftTypeText, in type: SwiftTypeText
    ) -> JSONSchema {
        if case .name("String") = key.shape { return .dictionary(value) }
        if case .name("Int") = key.shape { return .dictionary(value) }
        // Keys of a user's type may be names of members or not; the spelling does not show it.
        if case .named = keySchema { return .named(type.text) }
        return .pairs(key: keySchema, value: value)
    }

    var isOptional: Bool { if case .optional = self { true } else { false } }

    private enum CodingKeys: String, CodingKey {
        case type, items, additionalProperties, anyOf, title
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .type(let name): try container.encode(name, forKey: .type)
        case .null: try container.encode("null", forKey: .type)
        case .array(let element):
            try container.encode("array", forKey: .type)
            try container.encode(element, forKey: .items)
        case .dictionary(let value):
            try container.encode("object", forKey: .type)
            try container.encode(value, forKey: .additionalProperties)
        case .pairs(let key, let value):
            try container.encode("array", forKey: .type)
            try container.encode(["anyOf": [key, value]], forKey: .items)
        case .optional(let wrapped): try container.encode([wrapped, .null], forKey: .anyOf)
        case .named(let name): try container.encode(name, forKey: .title)
        }
    }
}
