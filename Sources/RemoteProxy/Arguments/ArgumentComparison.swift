// Tells whether the arguments of two calls are the same, for a cache that finds results by them. Used by generated code, where
// the compiler knows which types are hashable.

import JSONCodec

/// Compares single arguments: by `==` where their type has it, otherwise by their JSON.
public enum ArgumentComparison {
    /// Whether two values are the same.
    @inlinable
    public static func isSame<Value: Encodable & Hashable>(_ one: Value, _ other: Value) -> Bool { one == other }

    /// Whether two values have the same JSON. A value that cannot be written as JSON differs from every value, and from itself.
    public static func isSame<Value: Encodable>(_ one: Value, _ other: Value) -> Bool {
        guard let text = try? text(of: one) else { return false }
        return text == (try? self.text(of: other))
    }

    /// Feeds a value to a hash.
    @inlinable
    public static func hash<Value: Encodable & Hashable>(_ value: Value, into hasher: inout Hasher) {
        value.hash(into: &hasher)
    }

    /// Feeds a value to a hash, as JSON.
    public static func hash<Value: Encodable>(_ value: Value, into hasher: inout Hasher) {
        hasher.combine(try? text(of: value))
    }

    private static func text(of value: some Encodable) throws -> String {
        let output = JSONOutput()
        try output.encode(value)
        return try CanonicalJSON.text(of: output.bytes)
    }
}
