// Describes a Swift type, as its protocol spells it, in JSON Schema draft 7. Types of the user's own are named, not described:
// their shape depends on their `Codable` conformance, which no text tells.

indirect enum JSONSchema: Encodable {
    case type(String)
    case null
    case array(JSONSchema)
    case dictionary(JSONSchema)
    /// A dictionary whose keys cannot be names of members. Swift encodes it as an array of keys and values in turn.
    case pairs(key: JSONSchema, value: JSONSchema)
    case optional(JSONSchema)
    case named(String)

    init(swiftType: String) { self.init(text: swiftType.filter { !$0.isWhitespace }) }

    /// - Parameter text: without blanks. `[T]` and `Array<T>` are the same, and so are `T?` and `Optional<T>`.
    private init(text: some StringProtocol) {
        let plain = Self.withoutModule(text)
        if plain.hasSuffix("?") {
            self = .optional(JSONSchema(text: plain.dropLast()))
        } else if plain.hasPrefix("["), plain.hasSuffix("]") {
            let inside = plain.dropFirst().dropLast()
            let parts = Self.split(inside, at: ":")
            self = parts.count == 2 ? Self.dictionary(parts, in: String(text)) : .array(JSONSchema(text: inside))
        } else if let open = plain.firstIndex(of: "<"), plain.hasSuffix(">") {
            let arguments = Self.split(plain[plain.index(after: open)...].dropLast(), at: ",")
            switch (plain[..<open], arguments.count) {
            case ("Optional", 1): self = .optional(JSONSchema(text: arguments[0]))
            case ("Array", 1), ("Set", 1), ("ContiguousArray", 1), ("ArraySlice", 1):
                self = .array(JSONSchema(text: arguments[0]))
            case ("Dictionary", 2): self = Self.dictionary(arguments, in: String(text))
            default: self = .named(plain)
            }
        } else {
            self = Self.simple(plain)
        }
    }

    private static func withoutModule(_ text: some StringProtocol) -> String {
        let module = ["Swift.", "Foundation.", "FoundationEssentials."].first { text.hasPrefix($0) } ?? ""
        return String(text.dropFirst(module.count))
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

    /// - Parameter types: the types of the keys and of the values.
    private static func dictionary(_ types: [Substring], in text: String) -> JSONSchema {
        let (key, value) = (JSONSchema(text: types[0]), JSONSchema(text: types[1]))
        if ["String", "Int"].contains(withoutModule(types[0])) { return .dictionary(value) }
        // No text tells whether keys of a type of the user's own may be names of members.
        if case .named = key { return .named(text) }
        return .pairs(key: key, value: value)
    }

    /// The parts between separators that are not inside brackets.
    private static func split(_ text: Substring, at separator: Character) -> [Substring] {
        var depth = 0
        return text.split(omittingEmptySubsequences: false) { character in
            switch character {
            case "[", "<", "(": depth += 1
            case "]", ">", ")": depth -= 1
            case separator: return depth == 0
            default: break
            }
            return false
        }
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
