// How values of a type are decoded: by their own `init(from:)`, straight from the text for arrays and dictionaries, or
// from the form that Foundation's coder gives some of its own types. Looked up once for each type.

enum DecodingPlan {
    case ordinary
    case strings, integers, doubles
    case direct(any DirectlyDecoded.Type)
    case foundation(FoundationType)

    @inline(never)
    init(_ type: (some Decodable).Type) {
        if type == [String].self {
            self = .strings
        } else if type == [Int].self {
            self = .integers
        } else if type == [Double].self {
            self = .doubles
        } else if let known = FoundationType(type) {
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
        case .strings: try unsafeBitCast(frame.readTokens(String.self), to: type)
        case .integers: try unsafeBitCast(frame.readTokens(Int.self), to: type)
        case .doubles: try unsafeBitCast(frame.readTokens(Double.self), to: type)
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
        _ = try frame.openArray()
        let state = frame.pointee.state
        var elements: [Element] = []
        while try frame.nextElement() {
            elements.append(try state.decode(Element.self, in: frame, .index(elements.count)))
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
        while let key = try frame.nextKey() {
            let name = key.text.hasEscapes ? state.unescapedName(key) : (key.text.start, key.text.end &- key.text.start)
            let step = PathStep.name(name.0, length: name.1, JSONPathKey.self)
            members[key.text.string(in: key.base)] = try state.decode(Value.self, in: frame, step)
        }
        return members
    }
}

extension DecodingFramePointer {
    /// Beside the array, because only what is not generic over the element is specialised.
    fileprivate func readTokens<Token: JSONPrimitive>(_ type: Token.Type) throws -> [Token] {
        _ = try openArray()
        var tokens: [Token] = []
        guard try nextElement() else { return [] }
        tokens.reserveCapacity(8)
        repeat { tokens.append(try read(type, at: JSONPathKey(index: tokens.count))) } while try nextElement()
        return tokens
    }

    @inline(__always)
    fileprivate func nextElement() throws -> Bool {
        let state = pointee.state
        do throws(JSONError) { return try state.pointee.reader.nextElement() } catch { throw state.malformed(error) }
    }

    @inline(__always)
    fileprivate func nextKey() throws -> JSONKey? {
        let state = pointee.state
        do throws(JSONError) { return try state.pointee.reader.nextMember() } catch { throw state.malformed(error) }
    }
}
