// What a type's `encode(to:)` receives: the encoder of one value, which is also its single-value container.

struct ValueEncoder: Encoder, SingleValueEncodingContainer {
    let frame: EncodingFramePointer
    let serial: UInt

    var codingPath: [any CodingKey] { frame.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    @inline(__always)
    private func writable() throws -> EncodingFramePointer {
        try frame.writable(serial, current: frame.pointee.serial)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        guard let frame = try? writable() else { return .dead(frame) }
        frame.openObject()
        return frame.keyedContainer()
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        guard let frame = try? writable() else { return UnkeyedEncoder(frame: frame, serial: 0) }
        frame.openArray()
        return UnkeyedEncoder(frame: frame, serial: frame.pointee.serial)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    // MARK: Single value

    @inline(__always)
    private func unwritten(_ value: Any) throws -> EncodingFramePointer {
        let frame = try writable()
        guard frame.pointee.kind == .empty else {
            throw frame.invalid(value, "A second value was encoded where only one has a place.")
        }
        return frame
    }

    func encodeNil() throws {
        let frame = try unwritten("nil")
        frame.output.pointee.append("null")
        frame.pointee.kind = .scalar
    }

    @inline(__always)
    func encode<Value: JSONPrimitive>(_ value: Value) throws { try token(value) }

    @inline(__always)
    func token<Value: JSONPrimitive>(_ value: Value) throws {
        let frame = try unwritten(value)
        guard value.hasJSONText else { throw frame.noText(for: value) }
        value.write(to: &frame.output.pointee)
        frame.pointee.kind = .scalar
    }

    func encode<Value: Encodable>(_ value: Value) throws {
        let frame = try unwritten(value)
        let mark = frame.mark
        do {
            try frame.pointee.state.encode(value, .none, depth: frame.pointee.depth)
        } catch {
            frame.pointee.state.takeBack(to: mark)
            throw error
        }
        frame.pointee.kind = .scalar
    }
}

extension EncodingFramePointer {
    @inline(never)
    func noText(for value: some JSONPrimitive, at key: (any CodingKey)? = nil) -> EncodingError {
        invalid(value, "Unable to encode \(type(of: value)).\(value) directly in JSON.", at: key)
    }

    /// The frame of a container or encoder that the user may go on with later.
    func pushDetachable(_ key: any CodingKey) -> EncodingFramePointer? {
        let state = pointee.state
        do {
            let child = try state.push(.none, depth: pointee.depth)
            child.pointee.storedKey = key
            child.pointee.isDetachable = true
            return child
        } catch {
            if state.pointee.failure == nil { state.pointee.failure = error }
            return nil
        }
    }
}
