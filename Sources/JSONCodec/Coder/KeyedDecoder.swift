// The keyed container: finds members of its frame's object by name.

struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let frame: DecodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { (try? live())?.codingPath ?? [] }

    @inline(__always)
    private func live() throws -> DecodingFramePointer {
        guard frame.pointee.boxes.serial == serial, frame.pointee.serial != 0 else { throw DecodingError.outlived }
        return frame
    }

    var allKeys: [Key] {
        guard let frame = try? live(), let names = try? frame.allNames() else { return [] }
        return names.compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool {
        guard let frame = try? live(), let place = try? frame.find(key.stringValue) else { return false }
        return place >= 0
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        let frame = try live()
        guard let place = try frame.find(key.stringValue) else { throw frame.keyNotFound(key) }
        guard try frame.readNull() else { return false }
        frame.passed(place)
        return true
    }

    @inline(__always)
    func decode<Value: JSONPrimitive>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try token(type, forKey: key)
    }

    @inline(__always)
    func token<Value: JSONPrimitive>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let frame = try live()
        guard let place = try frame.find(key.stringValue) else { throw frame.keyNotFound(key) }
        let value = try frame.read(type, at: key)
        frame.passed(place)
        return value
    }

    @inline(__always)
    func tokenIfPresent<Value: JSONPrimitive>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let frame = try live()
        guard let place = try frame.find(key.stringValue) else { return nil }
        let value = try frame.readNull() ? nil : frame.read(type, at: key)
        frame.passed(place)
        return value
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let frame = try live()
        guard let place = try frame.find(key.stringValue) else { throw frame.keyNotFound(key) }
        return try frame.decode(type, forKey: Key.self, at: place)
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let frame = try live()
        guard let place = try frame.find(key.stringValue) else { return nil }
        guard try frame.readNull() else { return try frame.decode(type, forKey: Key.self, at: place) }
        frame.passed(place)
        return nil
    }

    // MARK: Nested

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        let child = try child(key)
        try child.openObject()
        return child.keyedContainer()
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try UnkeyedDecoder(opening: child(key))
    }

    func superDecoder() throws -> any Decoder { try superDecoder(JSONPathKey.superKey) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder(key) }

    private func superDecoder(_ key: some CodingKey) throws -> any Decoder {
        let frame = try live()
        let place = try frame.find(key.stringValue)
        let child = try frame.pointee.state.pushNested(in: frame, key)
        child.pointee.isMissing = place == nil
        child.pointee.isLoose = true
        return ValueDecoder(frame: child, serial: child.pointee.serial)
    }

    private func child(_ key: Key) throws -> DecodingFramePointer {
        let frame = try live()
        guard try frame.find(key.stringValue) != nil else { throw frame.keyNotFound(key) }
        return try frame.pointee.state.pushNested(in: frame, key)
    }
}

extension DecodingFramePointer {
    @inline(__always)
    func keyedContainer<Key: CodingKey>() -> KeyedDecodingContainer<Key> {
        guard let kept = pointee.boxes.kept(for: Key.self, KeyedDecodingContainer<Key>.self) else {
            return makeKeyedContainer()
        }
        return kept._withUnsafeGuaranteedRef { $0.copy() }
    }

    @inline(never)
    private func makeKeyedContainer<Key: CodingKey>() -> KeyedDecodingContainer<Key> {
        let made = KeyedDecodingContainer(KeyedDecoder<Key>(frame: self, serial: pointee.boxes.serial))
        pointee.boxes.keep(made, as: Key.self)
        return made
    }

    /// The value of a member whose place the reader stands at.
    @inline(__always)
    fileprivate func decode<Value: Decodable, Key: CodingKey>(
        _ type: Value.Type, forKey keyType: Key.Type, at place: Int
    ) throws -> Value {
        let member = pointee.members[pointee.found]
        let step = PathStep.name(member.name, length: member.length, Key.self)
        let value = try pointee.state.decode(type, in: self, step)
        passed(place)
        return value
    }

    /// The names of all members, each once.
    fileprivate func allNames() throws -> [String] {
        let state = pointee.state
        do throws(JSONError) { while try advance(remembering: true) {} } catch { throw state.malformed(error) }
        let base = state.pointee.reader.base
        return (0..<pointee.members.count).compactMap { number in
            let member = pointee.members[number]
            let bytes = UnsafeBufferPointer(start: base + member.name, count: member.length)
            if state.pointee.sawDuplicate, pointee.members.last(named: bytes, in: base) != number { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
