// The compiler's message for an argument that is not `Codable`: one, where the argument is written. These overloads fit where no
// other does. Without them the compiler would print one error for each overload, and none would name the reason.

extension ArgumentReader {
    /// Never called: the argument is refused where it is written.
    @_disfavoredOverload
    public mutating func next<Value>() throws -> Value { throw ArgumentFault.parameters("not Codable") }
}

extension ArgumentWriter {
    /// Writes no argument.
    @available(
        *, unavailable,
        message:
            "this argument is not Codable; declare its type so, and 'nonisolated' in a module isolated to the main actor"
    )
    public mutating func write<Value>(_ value: Value) throws {}
}
