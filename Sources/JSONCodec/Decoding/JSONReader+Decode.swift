// The way into decoding: a value at a reader's cursor, or a whole document.

extension JSONReader {
    /// Decodes the value at the cursor and moves behind it. Throws a `DecodingError`; if the text is not JSON at all, that
    /// is `dataCorrupted` with a `JSONError` as the underlying error.
    package mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let state = DecodingState.take(self)
        defer { state.giveBack() }
        let value = try state.decodeDocument(type)
        position = state.pointee.reader.position
        return value
    }
}

/// Decodes a document: one value, with nothing but white space around it.
package func decodeJSON<Value: Decodable>(
    _ type: Value.Type, from bytes: UnsafeRawBufferPointer, maximumDepth: Int = 512
) throws -> Value {
    var reader = JSONReader(bytes, maximumDepth: maximumDepth)
    let value = try reader.decode(type)
    do throws(JSONError) { try reader.finish() } catch { throw DecodingError.malformed(error) }
    return value
}
