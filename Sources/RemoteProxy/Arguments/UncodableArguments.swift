// The compiler's message for an argument that is not `Codable`. These unavailable overloads fit where no other does. Without
// them the compiler would print one error for each overload, and none would name the reason.

extension ArgumentReader {
    /// Reads no argument.
    @available(*, unavailable, message: "this argument is not Decodable: arguments of a @Service are Codable")
    @_disfavoredOverload
    public mutating func next<Value>(_ name: StaticString) throws -> Value { throw ArgumentFault.missing(name) }
}

extension ArgumentWriter {
    /// Writes no argument.
    @available(*, unavailable, message: "this argument is not Encodable: arguments of a @Service are Codable")
    public mutating func write<Value>(_ value: Value) throws {}
}

extension ArgumentComparison {
    /// Compares nothing.
    @available(*, unavailable, message: "this argument is not Encodable: arguments of a @Service are Codable")
    public static func isSame<Value>(_ one: Value, _ other: Value) -> Bool { false }

    /// Hashes nothing.
    @available(*, unavailable, message: "this argument is not Encodable: arguments of a @Service are Codable")
    public static func hash<Value>(_ value: Value, into hasher: inout Hasher) {}
}
