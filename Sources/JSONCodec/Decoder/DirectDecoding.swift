// Reads arrays, dictionaries and Foundation's types without containers.

/// Reads itself as its `init(from:)` would, and leaves the reader behind the value.
protocol DirectlyDecoded {
    /// The element type of an array whose values are one token each; nil for other types.
    static var element: (any JSONPrimitive.Type)? { get }
    static func decodeDirectly(in frame: DecodingFramePointer) throws -> Self
}

extension Array: DirectlyDecoded where Element: Decodable {
    static var element: (any JSONPrimitive.Type)? { Element.self as? any JSONPrimitive.Type }

    static func decodeDirectly(in frame: DecodingFramePointer) throws -> [Element] {
        _ = try frame.openArray()
        let state = frame.pointee.state
        var elements: [Element] = []
        while try state.read({ reader throws(JSONError) in try reader.nextElement() }) {
            elements.append(try state.decode(Element.self, in: frame, .index(elements.count)))
        }
        return elements
    }
}

extension Dictionary: DirectlyDecoded where Key == String, Value: Decodable {
    static var element: (any JSONPrimitive.Type)? { nil }

    static func decodeDirectly(in frame: DecodingFramePointer) throws -> [String: Value] {
        let state = frame.pointee.state
        // In careful mode an earlier duplicate member must not make decoding fail.
        if state.pointee.isCareful { return try state.decodeNaturally(self, in: frame, .none) }
        let kind = try frame.peek()
        guard kind == .object else { throw frame.wrongContainer([String: Any].self, found: kind) }
        var members: [String: Value] = [:]
        try state.read { reader throws(JSONError) in try reader.enterObject() }
        while let key = try state.read({ reader throws(JSONError) in try reader.nextMember() }) {
            let (name, length) = try state.place(of: key, in: frame)
            let step = PathStep.name(name, length: length, JSONPathKey.self)
            members[key.text.string(in: key.base)] = try state.decode(Value.self, in: frame, step)
        }
        return members
    }
}

extension Set: DirectlyDecoded where Element == String {
    static var element: (any JSONPrimitive.Type)? { nil }

    static func decodeDirectly(in frame: DecodingFramePointer) throws -> Set<String> {
        let elements = try Array<String>.decodeDirectly(in: frame)
        for element in elements { try frame.check(element) }
        return Set(elements)
    }
}

/// Without its own `init(from:)`, which asks as a type with a single text does.
extension String: DirectlyDecoded {
    static var element: (any JSONPrimitive.Type)? { nil }
    static func decodeDirectly(in frame: DecodingFramePointer) throws -> String { try frame.read(String.self) }
}

/// Reads one of Foundation's own types from the form that Foundation's coder gives it.
func decodeFoundationValue<Value: Decodable>(
    _ type: Value.Type, as known: FoundationType, in frame: DecodingFramePointer
) throws -> Value {
    let state = frame.pointee.state
    switch known {
    case .data:
        guard let bytes = Base64.bytes(of: try frame.read(String.self)) else {
            throw DecodingError.dataCorrupted(frame.context("Encountered Data is not valid Base64."))
        }
        guard let collection = type as? any RangeReplaceableCollection<UInt8>.Type,
            let value = make(collection, of: bytes) as? Value
        else { throw frame.mismatch(type) }
        return value
    case .url:
        let text = try frame.read(String.self)
        do {
            return try decodeNaturally(type) { output in
                output.append("{\"relative\":")
                output.append(quoted: text)
                output.append("}")
            }
        } catch {
            throw DecodingError.dataCorrupted(frame.context("Invalid URL string."))
        }
    case .decimal:
        let found = try state.read { reader throws(JSONError) in
            try reader.isAtNumber() ? try reader.scanNumber() : nil
        }
        guard let number = found else { throw frame.mismatch(type) }
        guard let parts = DecimalParts(number, in: state.pointee.reader.base) else {
            state.seek(number.start, depth: frame.pointee.depth)
            throw frame.mismatch(type)
        }
        return try decodeNaturally(type) { parts.write(to: &$0) }
    }
}

private func make<Made: RangeReplaceableCollection<UInt8>>(_ type: Made.Type, of bytes: [UInt8]) -> Made { Made(bytes) }

/// Decodes a type with its own `init(from:)`, in the form that it has outside Foundation's coder.
private func decodeNaturally<Value: Decodable>(
    _ type: Value.Type, from write: (inout OutputBuffer) -> Void
) throws -> Value {
    var buffer = OutputBuffer(capacity: 256)
    write(&buffer)
    let state = DecodingState.take(
        JSONReader(UnsafeRawBufferPointer(start: buffer.base, count: buffer.count)), .none)
    defer {
        state.giveBack()
        buffer.deallocate()
    }
    return try state.decodeNaturally(type, in: nil, .none)
}
