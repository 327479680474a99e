// The keyed container: writes members into the object of its frame.

struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let frame: EncodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { frame.codingPath }

    @inline(__always)
    private func checkWritable() throws { try frame.checkWritable(serial, current: frame.pointee.kept.serial) }

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
        frame.pointee.isBusy = true
        do {
            try frame.pointee.state.encode(value, in: frame, step)
        } catch {
            frame.takeBack(to: mark)
            throw error
        }
        frame.pointee.isBusy = false
        frame.endMember(name)
    }

    // The standard library's own methods for these types would be preferred to the generic one, and refuse them.
    func encode(_ value: Int128, forKey key: Key) throws { try token(value, forKey: key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try token(value, forKey: key) }

    // MARK: Nested

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        guard let nested = nested(key) else { return .dead(frame) }
        nested.openObject()
        return nested.keyedContainer()
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        guard let nested = nested(key) else { return UnkeyedEncoder(frame: frame, serial: 0) }
        nested.openArray()
        return UnkeyedEncoder(frame: nested, serial: nested.pointee.serial)
    }

    func superEncoder() -> any Encoder { superEncoder(JSONPathKey.superKey) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key as any CodingKey) }

    private func superEncoder(_ key: any CodingKey) -> any Encoder {
        guard let nested = nested(key) else { return ValueEncoder(frame: frame, serial: 0) }
        return ValueEncoder(frame: nested, serial: nested.pointee.serial)
    }

    private func nested(_ key: any CodingKey) -> EncodingFramePointer? {
        guard (try? checkWritable()) != nil else { return nil }
        let name = key.stringValue
        frame.beginMember(name)
        let nested = frame.addNested(key)
        frame.endMember(name)
        return nested
    }
}

extension EncodingFramePointer {
    @inline(__always)
    func keyedContainer<Key: CodingKey>() -> KeyedEncodingContainer<Key> {
        guard let kept = pointee.kept.kept(for: Key.self, KeyedEncodingContainer<Key>.self) else {
            return makeKeyedContainer()
        }
        return kept._withUnsafeGuaranteedRef { $0.copy() }
    }

    @inline(never)
    private func makeKeyedContainer<Key: CodingKey>() -> KeyedEncodingContainer<Key> {
        let made = KeyedEncodingContainer(KeyedEncoder<Key>(frame: self, serial: pointee.kept.serial))
        pointee.kept.keep(made)
        return made
    }
}

extension KeyedEncodingContainer {
    /// A container that fails at the first use: there was no value to open it for.
    static func dead(_ frame: EncodingFramePointer) -> Self { Self(KeyedEncoder<Key>(frame: frame, serial: 0)) }
}
