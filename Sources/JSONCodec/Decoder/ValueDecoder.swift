// The decoder that a type's `init(from:)` gets, for one value. It is also its single-value container.

struct ValueDecoder: Decoder, SingleValueDecodingContainer {
    let frame: DecodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { frame.pointee.serial == serial ? frame.codingPath : [] }
    var context: CodingContext { frame.pointee.serial == serial ? frame.pointee.state.pointee.context : nil }
    var userInfo: [CodingUserInfoKey: Any] { CodingUserInfoKey.userInfo(of: context) }

    @inline(__always)
    private func live() throws -> DecodingFramePointer {
        guard frame.pointee.serial == serial else { throw DecodingError.outlived }
        return frame
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let frame = try live()
        try frame.openObject()
        return frame.keyedContainer()
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try UnkeyedDecoder(opening: live()) }
    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        _ = try live()
        return self
    }

    // MARK: Single value

    func decodeNil() -> Bool {
        guard let frame = try? live(), let kind = try? frame.peek() else { return false }
        return kind == .null
    }

    @inline(__always)
    func decode<Value: JSONPrimitive>(_ type: Value.Type) throws -> Value { try token(type) }

    @inline(__always)
    private func token<Value: JSONPrimitive>(_ type: Value.Type) throws -> Value {
        try read(type) { frame in try frame.read(type) }
    }

    /// The text of a type that consists of it, such as an enum or an identifier. Such types are compared and hashed.
    func decode(_ type: String.Type) throws -> String {
        let text = try token(type)
        try frame.check(text)
        return text
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try read(type) { frame in try frame.pointee.state.decode(type, in: frame, .none) }
    }

    /// Moves the reader to the value and reads it.
    @inline(__always)
    private func read<Value>(_ type: Value.Type, _ body: (DecodingFramePointer) throws -> Value) throws -> Value {
        let frame = try live()
        guard !frame.pointee.isMissing else {
            throw DecodingError.valueNotFound(type, frame.context("Expected \(type) but found null instead."))
        }
        let state = frame.pointee.state
        state.seek(frame.pointee.start, depth: frame.pointee.depth)
        let value = try body(frame)
        if frame.pointee.kind == .unopened { frame.pointee.end = state.pointee.reader.position }
        return value
    }

    // Without these methods the standard library's would be preferred to the generic one, and refuse the types.
    func decode(_ type: Int128.Type) throws -> Int128 { try token(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try token(type) }
}

extension Decoder {
    /// The object of the context; nil if there is none, and in a decoder that is not of this library.
    package var contextObject: AnyObject? {
        if let decoder = self as? ValueDecoder { return decoder.context?.takeUnretainedValue() }
        return userInfo[.object].map { $0 as AnyObject }
    }
}
