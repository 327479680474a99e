// How values of a type are decoded: by their own `init(from:)`, straight from the text for arrays and dictionaries, or
// from the form that Foundation's coder gives some of its own types. Looked up once for each type.

enum DecodingPlan {
    case ordinary
    case direct(any DirectlyDecoded.Type)
    case foundation(FoundationType)

    @inline(never)
    init(_ type: (some Decodable).Type) {
        if let known = FoundationType(type) {
            self = .foundation(known)
        } else if let direct = type as? any DirectlyDecoded.Type {
            self = .direct(direct)
        } else {
            self = .ordinary
        }
    }

    @inline(__always)
    func decode<Value: Decodable>(_ type: Value.Type, in frame: DecodingFramePointer) throws -> Value {
        switch self {
        case .ordinary: try frame.pointee.state.decodeNaturally(type, in: frame, .none)
        case .direct(let known): try Self.read(type, as: known, in: frame)
        case .foundation(let known): try known.decode(type, in: frame)
        }
    }

    private static func read<Value, Known: DirectlyDecoded>(
        _ type: Value.Type, as known: Known.Type, in frame: DecodingFramePointer
    ) throws -> Value {
        // The plan was made for this very type.
        let value = try Known.decodeDirectly(in: frame)
        return withUnsafePointer(to: value) { place in
            UnsafeRawPointer(place).assumingMemoryBound(to: Value.self).pointee
        }
    }
}

/// Reads itself as its `init(from:)` would, without containers in between. The reader is left behind the value.
protocol DirectlyDecoded {
    static func decodeDirectly(in frame: DecodingFramePointer) throws -> Self
}

extension Array: DirectlyDecoded where Element: Decodable {
    static func decodeDirectly(in frame: DecodingFramePointer) throws -> [Element] {
        if Element.self == String.self, let all = try readAll(as: String.self, in: frame) as? [Element] { return all }
        if Element.self == Int.self, let all = try readAll(as: Int.self, in: frame) as? [Element] { return all }
        if Element.self == Double.self, let all = try readAll(as: Double.self, in: frame) as? [Element] { return all }
        _ = try frame.openArray()
        let state = frame.pointee.state
        var elements: [Element] = []
        while try frame.nextElement() {
            elements.append(try state.decode(Element.self, in: frame, .index(elements.count)))
        }
        return elements
    }

    private static func readAll<Known: JSONPrimitive>(
        as type: Known.Type, in frame: DecodingFramePointer
    ) throws -> [Known] {
        _ = try frame.openArray()
        var elements: [Known] = []
        while try frame.nextElement() {
            elements.append(try frame.read(type, at: JSONPathKey(index: elements.count)))
        }
        return elements
    }
}

extension Dictionary: DirectlyDecoded where Key == String, Value: Decodable {
    static func decodeDirectly(in frame: DecodingFramePointer) throws -> [String: Value] {
        let state = frame.pointee.state
        // An earlier duplicate must not fail the whole.
        if state.pointee.isCareful { return try state.decodeNaturally(self, in: frame, .none) }
        let kind = try frame.peek()
        guard kind == .object else { throw frame.wrongContainer([String: Any].self, found: kind) }
        var members: [String: Value] = [:]
        do throws(JSONError) { try state.pointee.reader.enterObject() } catch { throw state.malformed(error) }
        while let name = try frame.nextName() {
            let key = JSONPathKey(name)
            members[name] = try withUnsafePointer(to: key) { place in
                try state.decode(Value.self, in: frame, .key(place, JSONPathKey.self))
            }
        }
        return members
    }
}

extension DecodingFramePointer {
    @inline(__always)
    fileprivate func nextElement() throws -> Bool {
        let state = pointee.state
        do throws(JSONError) { return try state.pointee.reader.nextElement() } catch { throw state.malformed(error) }
    }

    @inline(__always)
    fileprivate func nextName() throws -> String? {
        let state = pointee.state
        do throws(JSONError) { return try state.pointee.reader.nextMember()?.string() } catch {
            throw state.malformed(error)
        }
    }
}
