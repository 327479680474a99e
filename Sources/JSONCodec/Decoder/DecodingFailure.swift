// Makes a `DecodingError` for each fault of a value: where it is, what was expected, what was found. If the text is not JSON, the
// reader's error is the underlying one.

extension DecodingError {
    static func malformed(_ error: JSONError) -> DecodingError {
        .dataCorrupted(
            Context(codingPath: [], debugDescription: "The text is not valid JSON: \(error)", underlyingError: error))
    }

    /// A container or decoder was used after the decoding that it belongs to.
    static var outlived: DecodingError {
        .dataCorrupted(Context(codingPath: [], debugDescription: "A container was used after its value was decoded."))
    }
}

extension DecodingFramePointer {
    func context(_ text: String, at key: (any CodingKey)? = nil) -> DecodingError.Context {
        DecodingError.Context(codingPath: key.map { codingPath + [$0] } ?? codingPath, debugDescription: text)
    }

    @inline(never)
    func wrongContainer(_ type: Any.Type, found: JSONKind) -> DecodingError {
        if found == .null {
            return .valueNotFound(type, context("Expected a container of \(type) but found null instead."))
        }
        return .typeMismatch(type, context("Expected to decode \(type) but found \(found.name) instead."))
    }

    /// Throws if a text is costly to compare.
    func check(_ text: String) throws {
        guard CombiningMarks.areTooMany(in: text) else { return }
        throw DecodingError.dataCorrupted(context(CombiningMarks.reason))
    }

    /// The token at the reader's cursor is not a value of this type.
    @inline(never)
    func mismatch(_ type: Any.Type, at key: (any CodingKey)? = nil) -> any Error {
        var reader = pointee.state.pointee.reader
        guard let kind = try? reader.peek(), let range = kind == .number ? try? reader.skipValue() : 0..<0 else {
            // After a failure the whole text is checked, because an error of the text says more.
            return DecodingError.dataCorrupted(context("The text is not valid JSON.", at: key))
        }
        switch kind {
        case .null:
            return DecodingError.valueNotFound(type, context("Expected \(type) but found null instead.", at: key))
        case .number where type != String.self && type != Bool.self:
            let bytes = UnsafeBufferPointer(start: reader.base + range.lowerBound, count: range.count)
            let number = String(decoding: bytes, as: UTF8.self)
            return DecodingError.dataCorrupted(context("The number \(number) does not fit in \(type).", at: key))
        default:
            return DecodingError.typeMismatch(
                type, context("Expected to decode \(type) but found \(kind.name) instead.", at: key))
        }
    }

    @inline(never)
    func keyNotFound(_ key: some CodingKey) -> DecodingError {
        .keyNotFound(key, context("No value associated with key \(key) (\"\(key.stringValue)\")."))
    }
}
