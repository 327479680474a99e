// A Swift type, as its protocol spells it, in the words of JSON Schema draft 7. Types of the user's own are named, not
// described: their shape is their `Codable` conformance, which no text tells.

indirect enum JSONSchema: Encodable {
    case type(String)
    case null
    case array(JSONSchema)
    case dictionary(JSONSchema)
    case optional(JSONSchema)
    case named(String)

    private static let integers: Set = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Int128", "UInt128",
    ]

    init(swiftType: String) {
        let text = swiftType.filter { !$0.isWhitespace }
        if text.hasSuffix("?") {
            self = .optional(JSONSchema(swiftType: String(text.dropLast())))
        } else if text.hasPrefix("["), text.hasSuffix("]") {
            self = Self.collection(text.dropFirst().dropLast())
        } else if Self.integers.contains(text) {
            self = .type("integer")
        } else {
            self = Self.simple(text)
        }
    }

    private static func simple(_ text: String) -> JSONSchema {
        switch text {
        case "Double", "Float", "Decimal": .type("number")
        case "String", "URL", "UUID", "Data", "Character": .type("string")
        case "Bool": .type("boolean")
        case "Void", "()": .null
        default: .named(text)
        }
    }

    /// What stands between the brackets: an element, or a key and a value with the colon of neither's generics.
    private static func collection(_ inside: Substring) -> JSONSchema {
        var depth = 0
        for index in inside.indices {
            switch inside[index] {
            case "[", "<", "(": depth += 1
            case "]", ">", ")": depth -= 1
            case ":" where depth == 0:
                return .dictionary(JSONSchema(swiftType: String(inside[inside.index(after: index)...])))
            default: break
            }
        }
        return .array(JSONSchema(swiftType: String(inside)))
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
        case .optional(let wrapped): try container.encode([wrapped, .null], forKey: .anyOf)
        case .named(let name): try container.encode(name, forKey: .title)
        }
    }
}
