// How the arguments of one method travel: the part of a generated method that knows their types one by one.

/// Reads and writes the arguments of one method, in the order of declaration.
struct ArgumentCoding<Arguments: Sendable>: Sendable {
    let read: @Sendable (inout ArgumentReader) throws -> Arguments
    let write: @Sendable (Arguments, inout ArgumentWriter) throws -> Void
}

extension ArgumentCoding where Arguments == Void {
    /// For a method without parameters.
    static var none: ArgumentCoding { ArgumentCoding(read: { _ in }, write: { _, _ in }) }
}
