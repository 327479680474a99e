// How the arguments of one method travel: the part of a generated method that knows their types one by one.

/// Reads and writes the arguments of one method, in the order of declaration. Opaque outside the library.
public struct _ArgumentCoding<Arguments: Sendable>: Sendable {
    let read: @Sendable (inout _ArgumentReader) throws -> Arguments
    let write: @Sendable (Arguments, inout _ArgumentWriter) throws -> Void

    /// Made by generated code.
    public init(
        read: @escaping @Sendable (inout _ArgumentReader) throws -> Arguments,
        write: @escaping @Sendable (Arguments, inout _ArgumentWriter) throws -> Void
    ) {
        (self.read, self.write) = (read, write)
    }
}

extension _ArgumentCoding where Arguments == Void {
    /// For a method without parameters.
    public static var none: _ArgumentCoding { _ArgumentCoding(read: { _ in }, write: { _, _ in }) }
}

// These overloads are chosen only for an argument that is not `Codable`. With them the compiler prints one error, where the
// argument is written, and it has the reason. Without them it would print one for each overload, and none would have the reason.

extension _ArgumentReader {
    /// Never called: the argument is refused where it is written.
    @_disfavoredOverload
    public mutating func next<Value>() throws -> Value { throw ArgumentFault.parameters("not Codable") }
}

extension _ArgumentWriter {
    /// Writes no argument.
    @available(
        *, unavailable,
        message:
            "this argument is not Codable; declare its type so, and 'nonisolated' in a module isolated to the main actor; an object or a closure is spelled out: 'any Book', '@escaping @Sendable (Int) -> Void'"
    )
    public mutating func write<Value>(_ value: Value) throws {}
}
