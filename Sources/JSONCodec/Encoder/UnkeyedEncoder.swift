// The unkeyed container: writes elements into the array of its frame.

struct UnkeyedEncoder: UnkeyedEncodingContainer {
    let frame: EncodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { frame.codingPath }
    var count: Int { frame.pointee.serial == serial ? frame.pointee.count : 0 }

    @inline(__always)
    private func checkWritable() throws { try frame.checkWritable(serial, current: frame.pointee.serial) }

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
        frame.pointee.isBusy = true
        do {
            try frame.pointee.state.encode(value, in: frame, .index(mark.count))
        } catch {
            frame.takeBack(to: mark)
            throw error
        }
        frame.pointee.isBusy = false
    }

    // The standard library's own methods for these types would be preferred to the generic one, and refuse them.
    func encode(_ value: Int128) throws { try token(value) }
    func encode(_ value: UInt128) throws { try token(value) }

    // MARK: Nested

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        guard let nested = nested() else { return .dead(frame) }
        nested.openObject()
        return nested.keyedContainer()
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        guard let nested = nested() else { return UnkeyedEncoder(frame: frame, serial: 0) }
        nested.openArray()
        return UnkeyedEncoder(frame: nested, serial: nested.pointee.serial)
    }

    func superEncoder() -> any Encoder {
        guard let nested = nested() else { return ValueEncoder(frame: frame, serial: 0) }
        return ValueEncoder(frame: nested, serial: nested.pointee.serial)
    }

    private func nested() -> EncodingFramePointer? {
        guard (try? checkWritable()) != nil else { return nil }
        let key = JSONPathKey(index: frame.pointee.count)
        frame.beginElement()
        return frame.addNested(key)
    }
}
