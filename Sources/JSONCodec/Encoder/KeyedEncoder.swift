// The keyed container: writes members into the object of its frame.

struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let frame: EncodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { isLive ? frame.codingPath : [] }

    private var isLive: Bool {
        @inline(__always) get { frame.pointee.kept.serial == serial && frame.pointee.serial != 0 }
    }

    @inline(__always)
    private func checkWritable() throws { try frame.checkWritable(isLive) }

    func encodeNil(forKey key: Key) throws {
        try checkWritable()
        frame.beginMember(key.stringValue)
        frame.pointee.output.pointee.append("null")
        frame.endMember(key.stringValue)
    }

    @inline(__always)
    func encode<Value: JSONPrimitive>(_ value: Value, forKey key: Key) throws { try token(value, forKey: key) }

    @inline(__always)
    private func token<Value: JSONPrimitive>(_ value: Value, forKey key: Key) throws {
        try checkWritable()
        guard value.hasJSONText else { throw frame.noText(for: value, at: key) }
        let name = key.stringValue
        frame.beginMember(name)
        value.write(to: &frame.pointee.output.pointee)
        frame.endMember(name)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try checkWritable()
        let (mark, name) = (frame.mark, key.stringValue)
        let place = frame.beginMember(name)
        let step = PathStep.name(place.lowerBound, length: place.count, Key.self)
        try frame.encode(value, step, from: mark)
        frame.endMember(name)
    }

    // Without these methods the standard library's would be preferred to the generic one, and refuse the types.
    func encode(_ value: Int128, forKey key: Key) throws { try token(value, forKey: key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try token(value, forKey: key) }

    // MARK: Nested

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { nested(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { nested(JSONPathKey.superKey) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: some CodingKey) -> ValueEncoder {
        guard (try? checkWritable()) != nil else { return ValueEncoder(frame: frame, serial: 0) }
        let name = key.stringValue
        frame.beginMember(name)
        let nested = frame.addNested(key)
        frame.endMember(name)
        return ValueEncoder(frame: nested, serial: nested.pointee.serial)
    }
}
