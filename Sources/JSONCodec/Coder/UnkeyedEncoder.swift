// The unkeyed container: writes elements into the array of its frame.

struct UnkeyedEncoder: UnkeyedEncodingContainer {
    let frame: EncodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { frame.codingPath }
    var count: Int { (try? writable())?.pointee.count ?? 0 }

    @inline(__always)
    private func writable() throws -> EncodingFramePointer {
        try frame.writable(serial, current: frame.pointee.serial)
    }

    func encodeNil() throws {
        let frame = try writable()
        frame.beginElement()
        frame.output.pointee.append("null")
    }

    @inline(__always)
    func encode<Value: JSONPrimitive>(_ value: Value) throws { try token(value) }

    @inline(__always)
    func token<Value: JSONPrimitive>(_ value: Value) throws {
        let frame = try writable()
        guard value.hasJSONText else {
            throw frame.noText(for: value, at: JSONPathKey(index: frame.pointee.count))
        }
        frame.beginElement()
        value.write(to: &frame.output.pointee)
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        let frame = try writable()
        let mark = frame.mark
        let step = PathStep.index(frame.pointee.count)
        frame.beginElement()
        do {
            try frame.pointee.state.encode(value, step, depth: frame.pointee.depth)
        } catch {
            frame.takeBack(to: mark)
            throw error
        }
    }

    // MARK: Nested

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        guard let child = child() else { return .dead(frame) }
        child.openObject()
        return child.keyedContainer()
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        guard let child = child() else { return UnkeyedEncoder(frame: frame, serial: 0) }
        child.openArray()
        return UnkeyedEncoder(frame: child, serial: child.pointee.serial)
    }

    func superEncoder() -> any Encoder {
        guard let child = child() else { return ValueEncoder(frame: frame, serial: 0) }
        return ValueEncoder(frame: child, serial: child.pointee.serial)
    }

    private func child() -> EncodingFramePointer? {
        guard let frame = try? writable() else { return nil }
        let key = JSONPathKey(index: frame.pointee.count)
        frame.beginElement()
        return frame.pushDetachable(key)
    }
}
