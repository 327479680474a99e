// How the result of one method travels: the counterpart of `_ArgumentCoding`. All other code only hands results on.

package import JSONCodec

/// Reads and writes the result of one method.
package struct ResultCoding<Result: Sendable>: Sendable {
    /// Reads one JSON value.
    let read: @Sendable (UnsafeRawBufferPointer) throws -> Result
    let write: @Sendable (Result, JSONOutput) throws -> Void

    package init(
        read: @escaping @Sendable (UnsafeRawBufferPointer) throws -> Result,
        write: @escaping @Sendable (Result, JSONOutput) throws -> Void
    ) {
        (self.read, self.write) = (read, write)
    }
}

extension ResultCoding where Result: Codable {
    /// For a result that travels as the value it is.
    package static var codable: ResultCoding {
        ResultCoding(read: { try decodeJSON(Result.self, from: $0) }, write: { try $1.encode($0) })
    }
}
