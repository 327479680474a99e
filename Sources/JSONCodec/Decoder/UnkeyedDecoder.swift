// The unkeyed container: reads the elements of its frame's array one after the other. A copy has its own position.

struct UnkeyedDecoder: UnkeyedDecodingContainer {
    /// The copies of a container hold this object. The frame can be reused when none holds it any more.
    final class Hold {}

    private let frame: DecodingFramePointer
    private let serial: UInt
    private let hold: Hold
    private var cursor: Int
    private(set) var currentIndex = 0

    init(opening frame: DecodingFramePointer) throws {
        self.frame = frame
        serial = frame.pointee.serial
        cursor = try frame.openArray()
        hold = frame.hold()
    }

    var codingPath: [any CodingKey] { (try? live())?.codingPath ?? [] }

    @inline(__always)
    private func live() throws -> DecodingFramePointer {
        guard frame.pointee.serial == serial else { throw DecodingError.outlived }
        return frame
    }

    /// Counts the elements by reading ahead. That costs a scan of the rest.
    var count: Int? {
        guard let frame = try? live() else { return nil }
        let state = frame.pointee.state
        var copy = self
        var count = currentIndex
        do {
            while try copy.moveToElement(frame) {
                try state.skipValue(remembering: true)
                copy.currentIndex += 1
                copy.cursor = state.pointee.reader.position
                count += 1
            }
        } catch { return nil }
        return count
    }

    var isAtEnd: Bool {
        guard let frame = try? live(), let hasElement = try? moveToElement(frame) else { return true }
        return !hasElement
    }

    /// Moves the reader to the next element. Returns false at the end.
    @inline(__always)
    private func moveToElement(_ frame: DecodingFramePointer) throws -> Bool {
        let state = frame.pointee.state
        state.seek(cursor, depth: frame.pointee.depth &+ 1)
        state.pointee.reader.isFirst = currentIndex == 0
        return try state.read { reader throws(JSONError) in try reader.nextElement() }
    }

    @inline(__always)
    private func begin(_ type: Any.Type) throws -> DecodingFramePointer {
        let frame = try live()
        guard try moveToElement(frame) else {
            throw DecodingError.valueNotFound(
                type, frame.context("Unkeyed container is at end.", at: JSONPathKey(index: currentIndex)))
        }
        return frame
    }

    @inline(__always)
    private mutating func advance(_ frame: DecodingFramePointer) {
        cursor = frame.pointee.state.pointee.reader.position
        currentIndex &+= 1
        if cursor > frame.pointee.cursor {
            frame.pointee.cursor = cursor
            frame.pointee.isFirst = false
        }
    }

    mutating func decodeNil() throws -> Bool {
        let frame = try begin(Any?.self)
        guard try frame.readNull() else { return false }
        advance(frame)
        return true
    }

    @inline(__always)
    mutating func decode<Value: JSONPrimitive>(_ type: Value.Type) throws -> Value { try token(type) }

    @inline(__always)
    private mutating func token<Value: JSONPrimitive>(_ type: Value.Type) throws -> Value {
        let frame = try begin(type)
        let value = try frame.read(type, at: JSONPathKey(index: currentIndex))
        advance(frame)
        return value
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let frame = try begin(type)
        let value = try frame.pointee.state.decode(type, in: frame, .index(currentIndex))
        advance(frame)
        return value
    }

    // Without these methods the standard library's would be preferred to the generic one, and refuse the types.
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try token(type) }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try token(type) }

    // MARK: Nested

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try nested(KeyedDecodingContainer<Nested>.self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try nested((any UnkeyedDecodingContainer).self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try nested((any Decoder).self) { decoder in
            decoder.frame.pointee.isLoose = true
            return decoder
        }
    }

    /// Makes something from the next element and moves past it. The element itself is read later, or never.
    private mutating func nested<Made>(_ type: Made.Type, _ make: (ValueDecoder) throws -> Made) throws -> Made {
        let frame = try begin(type)
        let state = frame.pointee.state
        let child = try state.pushNested(in: frame, JSONPathKey(index: currentIndex))
        let made = try make(ValueDecoder(frame: child, serial: child.pointee.serial))
        state.seek(child.pointee.start, depth: child.pointee.depth)
        try state.skipValue(remembering: true)
        advance(frame)
        return made
    }
}

extension DecodingFramePointer {
    /// Returns the object that the copies of a new unkeyed container hold.
    fileprivate func hold() -> UnkeyedDecoder.Hold {
        if isKnownUniquelyReferenced(&pointee.hold), let hold = pointee.hold { return hold }
        // The copies that hold the former object are no longer tracked.
        if pointee.hold != nil { pointee.isLoose = true }
        let hold = UnkeyedDecoder.Hold()
        pointee.hold = hold
        return hold
    }
}
