// How values of a type are encoded: by their own `encode(to:)`, straight from memory for arrays and dictionaries, or
// in the form that Foundation's coder gives some of its own types. Looked up once for each type.

enum EncodingPlan {
    case ordinary
    case strings, integers, doubles
    case direct(any DirectlyEncoded.Type)
    case foundation(FoundationType)

    @inline(never)
    init(_ type: (some Encodable).Type) {
        if type == [String].self {
            self = .strings
        } else if type == [Int].self {
            self = .integers
        } else if type == [Double].self {
            self = .doubles
        } else if let known = FoundationType(type) {
            self = .foundation(known)
        } else if let direct = type as? any DirectlyEncoded.Type {
            self = .direct(direct)
        } else {
            self = .ordinary
        }
    }

    @inline(__always)
    func encode<Value: Encodable>(_ value: Value, in frame: EncodingFramePointer) throws {
        switch self {
        case .ordinary: break
        case .strings: try frame.writeTokens(unsafeBitCast(value, to: [String].self))
        case .integers: try frame.writeTokens(unsafeBitCast(value, to: [Int].self))
        case .doubles: try frame.writeTokens(unsafeBitCast(value, to: [Double].self))
        case .direct(let type): try Self.write(value, as: type, in: frame)
        case .foundation(let type): try type.encode(value, in: frame)
        }
    }

    private static func write<Value, Known: DirectlyEncoded>(
        _ value: Value, as type: Known.Type, in frame: EncodingFramePointer
    ) throws {
        // The plan was made for this very type.
        try withUnsafePointer(to: value) { place in
            try UnsafeRawPointer(place).assumingMemoryBound(to: Known.self).pointee.encodeDirectly(in: frame)
        }
    }
}

/// Writes itself as its `encode(to:)` would, without containers in between.
protocol DirectlyEncoded {
    func encodeDirectly(in frame: EncodingFramePointer) throws
}

extension Array: DirectlyEncoded where Element: Encodable {
    func encodeDirectly(in frame: EncodingFramePointer) throws {
        frame.openArray()
        if let failure = frame.pointee.state.pointee.failure { throw failure }
        let state = frame.pointee.state
        for element in self {
            let step = PathStep.index(frame.pointee.count)
            frame.beginElement()
            try state.encode(element, step, depth: frame.pointee.depth)
        }
        frame.close()
    }
}

extension EncodingFramePointer {
    /// Beside the array, because only what is not generic over the element is specialised.
    fileprivate func writeTokens<Token: JSONPrimitive>(_ tokens: [Token]) throws {
        openArray()
        if let failure = pointee.state.pointee.failure { throw failure }
        let output = output
        for (index, token) in tokens.enumerated() {
            if index > 0 { output.pointee.append(UInt8(ascii: ",")) }
            guard token.hasJSONText else { throw noText(for: token, at: JSONPathKey(index: index)) }
            token.write(to: &output.pointee)
        }
        close()
    }
}

extension Dictionary: DirectlyEncoded where Key == String, Value: Encodable {
    func encodeDirectly(in frame: EncodingFramePointer) throws {
        frame.openObject()
        let state = frame.pointee.state
        if let failure = state.pointee.failure { throw failure }
        let output = frame.output
        for (name, value) in self {
            if frame.pointee.count > 0 { output.pointee.append(UInt8(ascii: ",")) }
            frame.pointee.count &+= 1
            let start = output.pointee.count &+ 1
            output.pointee.append(quoted: name)
            let step = PathStep.name(start, length: output.pointee.count &- start &- 1, JSONPathKey.self)
            output.pointee.append(UInt8(ascii: ":"))
            try state.encode(value, step, depth: frame.pointee.depth)
        }
        frame.close()
    }
}
