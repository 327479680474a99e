// The encoder that a type's `encode(to:)` gets, for one value. It is also its single-value container.

struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let frame: EncodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { isLive ? frame.codingPath : [] }
    var context: CodingContext { isLive ? frame.pointee.state.pointee.context : nil }
    var userInfo: [CodingUserInfoKey: Any] { CodingUserInfoKey.userInfo(of: context) }

    /// False if it got no frame or has outlived it. A container of it fails at first use.
    private var isLive: Bool {
        @inline(__always) get { frame.pointee.serial == serial && serial != 0 }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        guard isLive else { return KeyedEncodingContainer(KeyedEncoder<Key>(frame: frame, serial: 0)) }
        frame.openObject()
        return frame.keyedContainer()
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        guard isLive else { return UnkeyedEncoder(frame: frame, serial: 0) }
        frame.openArray()
        return UnkeyedEncoder(frame: frame, serial: serial)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    // MARK: Single value

    @inline(__always)
    private func checkUnwritten(_ value: Any) throws {
        try frame.checkWritable(isLive)
        guard frame.pointee.kind == .empty else {
            throw frame.invalid(value, "A second value was encoded where only one has a place.")
        }
    }

    func encodeNil() throws {
        try checkUnwritten("nil")
        frame.pointee.output.pointee.append("null")
        frame.pointee.kind = .scalar
    }

    @inline(__always)
    func encode<Value: JSONPrimitive>(_ value: Value) throws { try token(value) }

    @inline(__always)
    private func token<Value: JSONPrimitive>(_ value: Value) throws {
        try checkUnwritten(value)
        guard value.hasJSONText else { throw frame.noText(for: value) }
        value.write(to: &frame.pointee.output.pointee)
        frame.pointee.kind = .scalar
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try checkUnwritten(value)
        try frame.encode(value, .none, from: frame.mark)
        frame.pointee.kind = .scalar
    }

    // Without these methods the standard library's would be preferred to the generic one, and refuse the types.
    func encode(_ value: Int128) throws { try token(value) }
    func encode(_ value: UInt128) throws { try token(value) }
}

extension Encoder {
    /// The object of the context; nil if there is none, and in an encoder that is not of this library.
    package var contextObject: AnyObject? {
        if let encoder = self as? ValueEncoder { return encoder.context?.takeUnretainedValue() }
        return userInfo[.object].map { $0 as AnyObject }
    }
}
