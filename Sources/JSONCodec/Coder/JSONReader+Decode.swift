// The way into decoding: a value at a reader's cursor, or a whole document.

extension JSONReader {
    /// Decodes the value at the cursor and moves behind it. Throws a `DecodingError`; if the text is not JSON at all, that
    /// is `dataCorrupted` with a `JSONError` as the underlying error.
    package mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Most arguments and results are one token, and need neither a decoder nor its state.
        if type == Int.self, let token = token(Int.self) { return unsafeBitCast(token, to: type) }
        if type == String.self, let token = token(String.self) { return unsafeBitCast(token, to: type) }
        if type == Bool.self, let token = token(Bool.self) { return unsafeBitCast(token, to: type) }
        if type == Double.self, let token = token(Double.self) { return unsafeBitCast(token, to: type) }
        let state = DecodingState.take(self)
        defer {
            position = state.pointee.reader.position
            state.giveBack()
        }
        return try state.decodeDocument(type)
    }

    /// The token at the cursor; nil, with the cursor unmoved, for anything that a decoder should explain.
    private mutating func token<Token: JSONPrimitive>(_ type: Token.Type) -> Token? {
        let start = self
        if let token = (try? Token.read(&self)) ?? nil { return token }
        self = start
        return nil
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
