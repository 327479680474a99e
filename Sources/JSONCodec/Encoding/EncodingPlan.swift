// How values of a type are encoded: by their own `encode(to:)`, straight from memory for arrays and dictionaries, or
// in the form that Foundation's coder gives some of its own types. Looked up once for each type.

enum EncodingPlan {
    case ordinary
    case direct(any DirectlyEncoded.Type)
    case foundation(FoundationType)

    @inline(never)
    init(_ type: (some Encodable).Type) {
        if let known = FoundationType(type) {
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
        if Element.self == String.self {
            try writeAll(as: String.self, in: frame)
        } else if Element.self == Int.self {
            try writeAll(as: Int.self, in: frame)
        } else if Element.self == Double.self {
            try writeAll(as: Double.self, in: frame)
        } else {
            let state = frame.pointee.state
            for element in self {
                let step = PathStep.index(frame.pointee.count)
                frame.beginElement()
                try state.encode(element, step, depth: frame.pointee.depth)
            }
        }
        frame.close()
    }

    private func writeAll<Known: JSONPrimitive>(as type: Known.Type, in frame: EncodingFramePointer) throws {
        let output = frame.output
        try withUnsafeBufferPointer { elements in
            try elements.withMemoryRebound(to: Known.self) { known in
                for index in known.indices {
                    if index > 0 { output.pointee.append(UInt8(ascii: ",")) }
                    guard known[index].hasJSONText else {
                        throw frame.noText(for: known[index], at: JSONPathKey(index: index))
                    }
                    known[index].write(to: &output.pointee)
                }
            }
        }
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
            output.pointee.append(quoted: name)
            output.pointee.append(UInt8(ascii: ":"))
            let key = JSONPathKey(name)
            try withUnsafePointer(to: key) { place in
                try state.encode(value, .key(place, JSONPathKey.self), depth: frame.pointee.depth)
            }
        }
        frame.close()
    }
}
