// The entry points of decoding: a value at a reader's cursor, or a whole document.

/// Decodes the value at a reader's cursor and moves behind it. Throws a `DecodingError`. If the text is not JSON, that is
/// `dataCorrupted` with a `JSONError` as the underlying error.
@inline(__always)
package func decodeJSON<Value: Decodable>(
    _ type: Value.Type, at reader: inout JSONReader, in context: CodingContext = .none
) throws -> Value {
    // Most arguments and results are one token. They need no decoder and no state. Each cast is to the type that was just
    // compared.
    if type == Int.self, let token = token(Int.self, &reader) { return unsafeBitCast(token, to: type) }
    if type == String.self, let token = token(String.self, &reader) { return unsafeBitCast(token, to: type) }
    if type == Bool.self, let token = token(Bool.self, &reader) { return unsafeBitCast(token, to: type) }
    if type == Double.self, let token = token(Double.self, &reader) { return unsafeBitCast(token, to: type) }
    let state = DecodingState.take(reader, context)
    defer {
        reader.position = state.pointee.reader.position
        state.giveBack()
    }
    return try state.decodeDocument(type)
}

/// Reads the token at the cursor. Returns nil, with the cursor unmoved, for any other value. The decoder then explains it.
@inline(__always)
private func token<Token: JSONPrimitive>(_ type: Token.Type, _ reader: inout JSONReader) -> Token? {
    let start = reader.position
    if let token = (try? Token.read(&reader)) ?? nil { return token }
    reader.position = start
    return nil
}

/// Decodes a document: one value, with nothing but white space around it.
/// - Parameter isKnownUTF8: whether the text has been read before, or comes from a String.
package func decodeJSON<Value: Decodable>(
    _ type: Value.Type, from bytes: UnsafeRawBufferPointer, maximumDepth: Int = 512, isKnownUTF8: Bool = false,
    in context: CodingContext = .none
) throws -> Value {
    // An `Int` as the type that it has just been found to be.
    if type == Int.self, let integer = JSONNumber.integer(in: bytes) { return unsafeBitCast(integer, to: type) }
    var reader = JSONReader(bytes, maximumDepth: maximumDepth)
    reader.isKnownUTF8 = isKnownUTF8
    let value = try decodeJSON(type, at: &reader, in: context)
    do throws(JSONError) { try reader.finish() } catch { throw DecodingError.malformed(error) }
    return value
}
