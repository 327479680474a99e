// The keyed container: finds members of its frame's object by name.

struct KeyedDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let frame: DecodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { (try? live())?.codingPath ?? [] }

    @inline(__always)
    private func live() throws -> DecodingFramePointer {
        guard frame.pointee.kept.serial == serial, frame.pointee.serial != 0 else { throw DecodingError.outlived }
        return frame
    }

    var allKeys: [Key] {
        guard let frame = try? live(), (try? frame.readAhead()) != nil else { return [] }
        var keys: [Key] = []
        for number in 0..<frame.pointee.members.count {
            if let name = frame.name(of: number), let key = Key(stringValue: name) { keys.append(key) }
        }
        return keys
    }

    func contains(_ key: Key) -> Bool {
        guard let frame = try? live(), let place = try? frame.find(key.stringValue) else { return false }
        return place >= 0
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        let (frame, place) = try find(key)
        guard try frame.readNull() else { return false }
        frame.passed(place)
        return true
    }

    @inline(__always)
    private func find(_ key: Key) throws -> (DecodingFramePointer, place: Int) {
        let frame = try live()
        guard let place = try frame.find(key.stringValue) else { throw frame.keyNotFound(key) }
        return (frame, place)
    }

    @inline(__always)
    func decode<Value: JSONPrimitive>(_ type: Value.Type, forKey key: Key) throws -> Value { try token(type, key) }

    @inline(__always)
    private func token<Value: JSONPrimitive>(_ type: Value.Type, _ key: Key) throws -> Value {
        let (frame, place) = try find(key)
        let value = try frame.read(type, at: key)
        frame.passed(place)
        return value
    }

    @inline(__always)
    private func ifPresent<Value: JSONPrimitive>(_ type: Value.Type, _ key: Key) throws -> Value? {
        let frame = try live()
        guard let place = try frame.find(key.stringValue) else { return nil }
        let value = try frame.readNull() ? nil : frame.read(type, at: key)
        frame.passed(place)
        return value
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (frame, place) = try find(key)
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
    ) throws -> KeyedDecodingContainer<Nested> { try nested(key, mayMiss: false).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try nested(key, mayMiss: false).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try superDecoder(JSONPathKey.superKey) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder(key) }

    private func superDecoder(_ key: some CodingKey) throws -> any Decoder {
        let decoder = try nested(key, mayMiss: true)
        decoder.frame.pointee.isLoose = true
        return decoder
    }

    private func nested(_ key: some CodingKey, mayMiss: Bool) throws -> ValueDecoder {
        let frame = try live()
        let place = try frame.find(key.stringValue)
        guard place != nil || mayMiss else { throw frame.keyNotFound(key) }
        let child = try frame.pointee.state.pushNested(in: frame, key)
        child.pointee.isMissing = place == nil
        return ValueDecoder(frame: child, serial: child.pointee.serial)
    }
}

// The compiler prefers the standard library's methods to generic ones. The library's look a member up three times, and refuse
// integers of 128 bits.
extension KeyedDecoder {
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try token(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try token(type, key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try ifPresent(type, key) }
    func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? { try ifPresent(type, key) }
}

extension DecodingFramePointer {
    /// Decodes the value of a member. The reader is at its place.
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

    /// The name of a member; nil if a later member has the same name.
    @inline(never)
    fileprivate func name(of number: Int) -> String? {
        let (state, member) = (pointee.state, pointee.members[number])
        let base = state.pointee.reader.base
        let bytes = UnsafeBufferPointer(start: base + member.name, count: member.length)
        if state.pointee.sawDuplicate, pointee.members.last(named: bytes, in: base) != number { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }
}
