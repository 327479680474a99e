// The unkeyed container: writes elements into the array of its frame.

struct UnkeyedEncoder: UnkeyedEncodingContainer {
    let frame: EncodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { isLive ? frame.codingPath : [] }
    var count: Int { isLive ? frame.pointee.count : 0 }

    private var isLive: Bool {
        @inline(__always) get { frame.pointee.serial == serial && serial != 0 }
    }

    @inline(__always)
    private func checkWritable() throws { try frame.checkWritable(isLive) }

    func encodeNil() throws {
        try checkWritable()
        frame.beginElement()
        frame.pointee.output.pointee.append("null")
    }

    @inline(__always)
    func encode<Value: JSONPrimitive>(_ value: Value) throws { try token(value) }

    @inline(__always)
    private func token<Value: JSONPrimitive>(_ value: Value) throws {
        try checkWritable()
        guard value.hasJSONText else {
            throw frame.noText(for: value, at: JSONPathKey(index: frame.pointee.count))
        }
        frame.beginElement()
        value.write(to: &frame.pointee.output.pointee)
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        try checkWritable()
        let mark = frame.mark
        frame.beginElement()
        try frame.encode(value, .index(mark.count), from: mark)
    }

    // Without these methods the standard library's would be preferred to the generic one, and refuse the types.
    func encode(_ value: Int128) throws { try token(value) }
    func encode(_ value: UInt128) throws { try token(value) }

    // MARK: Nested

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private func nested() -> ValueEncoder {
        guard (try? checkWritable()) != nil else { return ValueEncoder(frame: frame, serial: 0) }
        let key = JSONPathKey(index: frame.pointee.count)
        frame.beginElement()
        let nested = frame.addNested(key)
        return ValueEncoder(frame: nested, serial: nested.pointee.serial)
    }
}
