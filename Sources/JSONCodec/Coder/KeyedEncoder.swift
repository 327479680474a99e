// The keyed container: writes members into the object of its frame.

struct KeyedEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let frame: EncodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { frame.codingPath }

    @inline(__always)
    private func writable() throws -> EncodingFramePointer {
        try frame.writable(serial, current: frame.pointee.boxes.serial)
    }

    func encodeNil(forKey key: Key) throws {
        let frame = try writable()
        frame.beginMember(key.stringValue)
        frame.output.pointee.append("null")
    }

    @inline(__always)
    func encode<Value: JSONPrimitive>(_ value: Value, forKey key: Key) throws { try token(value, forKey: key) }

    @inline(__always)
    func token<Value: JSONPrimitive>(_ value: Value, forKey key: Key) throws {
        let frame = try writable()
        guard value.hasJSONText else { throw frame.noText(for: value, at: key) }
        frame.beginMember(key.stringValue)
        value.write(to: &frame.output.pointee)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let frame = try writable()
        let mark = frame.mark
        let name = frame.beginMember(key.stringValue)
        let step = PathStep.name(name.lowerBound, length: name.count, Key.self)
        do {
            try frame.pointee.state.encode(value, step, depth: frame.pointee.depth)
        } catch {
            frame.takeBack(to: mark)
            throw error
        }
    }

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        if let value { try encode(value, forKey: key) }
    }

    // MARK: Nested

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        guard let child = child(key) else { return .dead(frame) }
        child.openObject()
        return child.keyedContainer()
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        guard let child = child(key) else { return UnkeyedEncoder(frame: frame, serial: 0) }
        child.openArray()
        return UnkeyedEncoder(frame: child, serial: child.pointee.serial)
    }

    func superEncoder() -> any Encoder { superEncoder(JSONPathKey.superKey) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key as any CodingKey) }

    private func superEncoder(_ key: any CodingKey) -> any Encoder {
        guard let child = child(key) else { return ValueEncoder(frame: frame, serial: 0) }
        return ValueEncoder(frame: child, serial: child.pointee.serial)
    }

    private func child(_ key: any CodingKey) -> EncodingFramePointer? {
        guard let frame = try? writable() else { return nil }
        frame.beginMember(key.stringValue)
        return frame.pushDetachable(key)
    }
}

extension EncodingFramePointer {
    @inline(__always)
    func keyedContainer<Key: CodingKey>() -> KeyedEncodingContainer<Key> {
        guard let kept = pointee.boxes.kept(for: Key.self, KeyedEncodingContainer<Key>.self) else {
            return makeKeyedContainer()
        }
        return kept._withUnsafeGuaranteedRef { $0.copy() }
    }

    @inline(never)
    private func makeKeyedContainer<Key: CodingKey>() -> KeyedEncodingContainer<Key> {
        let made = KeyedEncodingContainer(KeyedEncoder<Key>(frame: self, serial: pointee.boxes.serial))
        pointee.boxes.keep(made, as: Key.self)
        return made
    }
}

extension KeyedEncodingContainer {
    /// A container that fails at the first use: there was no value to open it for.
    static func dead(_ frame: EncodingFramePointer) -> Self { Self(KeyedEncoder<Key>(frame: frame, serial: 0)) }
}
