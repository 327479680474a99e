// Writes arrays, dictionaries and Foundation's types without containers.

/// Writes itself as its `encode(to:)` would.
protocol DirectlyEncoded {
    /// The element type of an array whose values are one token each; nil for other types.
    static var element: (any JSONPrimitive.Type)? { get }
    func encodeDirectly(in frame: EncodingFramePointer) throws
}

extension Array: DirectlyEncoded where Element: Encodable {
    static var element: (any JSONPrimitive.Type)? { Element.self as? any JSONPrimitive.Type }

    func encodeDirectly(in frame: EncodingFramePointer) throws {
        frame.openArray()
        let state = frame.pointee.state
        if let failure = state.pointee.failure { throw failure }
        for element in self {
            let step = PathStep.index(frame.pointee.count)
            frame.beginElement()
            try state.encode(element, in: frame, step)
        }
        frame.close()
    }
}

extension Dictionary: DirectlyEncoded where Key == String, Value: Encodable {
    static var element: (any JSONPrimitive.Type)? { nil }

    func encodeDirectly(in frame: EncodingFramePointer) throws {
        frame.openObject()
        let state = frame.pointee.state
        if let failure = state.pointee.failure { throw failure }
        let output = frame.pointee.output
        for (name, value) in self {
            frame.beginElement()
            let start = output.pointee.count &+ 1
            output.pointee.append(quoted: name)
            let step = PathStep.name(start, length: output.pointee.count &- start &- 1, JSONPathKey.self)
            output.pointee.append(UInt8(ascii: ":"))
            try state.encode(value, in: frame, step)
        }
        frame.close()
    }
}

/// Writes one of Foundation's own types in the form that Foundation's coder gives it.
func encodeFoundationValue(_ value: some Encodable, as type: FoundationType, in frame: EncodingFramePointer) throws {
    let output = frame.pointee.output
    switch type {
    case .data:
        guard let bytes = value as? any Sequence<UInt8> else {
            throw frame.invalid(value, "Expected a sequence of bytes.")
        }
        Base64.write(bytes, to: &output.pointee)
    case .url:
        // A URL encodes itself as an object. The object is written here first, and then replaced by a string.
        let start = output.pointee.count
        try frame.pointee.state.encodeNaturally(value, in: frame, .none)
        let natural = UnsafeRawBufferPointer(start: output.pointee.base + start, count: output.pointee.count &- start)
        let text = try URIReference.absoluteText(natural)
        output.pointee.truncate(to: start)
        output.pointee.append(quoted: text)
    case .decimal:
        // The description of a Decimal is its number, except for NaN, which JSON cannot write.
        guard let text = (value as? any CustomStringConvertible)?.description, text != "NaN" else {
            throw frame.invalid(value, "Unable to encode Decimal.nan directly in JSON.")
        }
        output.pointee.append(raw: text)
    }
}
