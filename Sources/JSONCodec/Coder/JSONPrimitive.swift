// The types that are one JSON token each. Containers read and write them directly, without an encoder or decoder.

protocol JSONPrimitive: Codable {
    /// False for NaN and the infinities, which JSON cannot write.
    var hasJSONText: Bool { get }
    func write(to output: inout OutputBuffer)
    /// Reads the value at the cursor and moves behind it. Returns nil, with the cursor unmoved, if the value has another kind or
    /// does not fit.
    static func read(_ reader: inout JSONReader) throws(JSONError) -> Self?

    /// Reads the array at the cursor into `place`. Returns false on any fault, with nothing made and the cursor unmoved. A
    /// decoder then explains the fault.
    static func readArray(_ reader: inout JSONReader, into place: UnsafeMutableRawPointer) -> Bool
    /// Writes an array of such values. Returns false, with nothing written, if JSON cannot write one of them.
    static func write(arrayAt place: UnsafeRawPointer, to output: inout OutputBuffer) -> Bool
}

// Inlined into each conformance, so that each type gets its own code.
extension JSONPrimitive {
    @inline(__always) var hasJSONText: Bool { true }

    @inline(__always)
    static func readArray(_ reader: inout JSONReader, into place: UnsafeMutableRawPointer) -> Bool {
        let start = reader.position
        do throws(JSONError) {
            if let values = try readValues(&reader) {
                place.initializeMemory(as: [Self].self, to: values)
                return true
            }
        } catch {}
        reader.position = start
        return false
    }

    @inline(__always)
    private static func readValues(_ reader: inout JSONReader) throws(JSONError) -> [Self]? {
        guard reader.depth < reader.maximumDepth, try reader.nextByte() == UInt8(ascii: "[") else { return nil }
        reader.position &+= 1
        if try reader.nextByte() == UInt8(ascii: "]") {
            reader.position &+= 1
            return []
        }
        // Most arrays are short and fit into one piece of memory.
        var values: [Self] = []
        values.reserveCapacity(8)
        while true {
            guard let value = try read(&reader) else { return nil }
            values.append(consume value)
            let byte = try reader.nextByte()
            reader.position &+= 1
            if byte == UInt8(ascii: "]") { return values }
            guard byte == UInt8(ascii: ",") else { return nil }
        }
    }

    @inline(__always)
    static func write(arrayAt place: UnsafeRawPointer, to output: inout OutputBuffer) -> Bool {
        let array = place.assumingMemoryBound(to: [Self].self).pointee
        let start = output.count
        output.append(UInt8(ascii: "["))
        for index in array.indices {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            guard array[index].hasJSONText else {
                output.truncate(to: start)
                return false
            }
            array[index].write(to: &output)
        }
        output.append(UInt8(ascii: "]"))
        return true
    }
}

extension Bool: JSONPrimitive {
    @inline(__always)
    func write(to output: inout OutputBuffer) { output.append(self ? "true" : "false") }

    static func read(_ reader: inout JSONReader) throws(JSONError) -> Bool? {
        switch try reader.nextByte() {
        case UInt8(ascii: "t"):
            try reader.skipLiteral("true")
            return true
        case UInt8(ascii: "f"):
            try reader.skipLiteral("false")
            return false
        default: return nil
        }
    }
}

extension String: JSONPrimitive {
    @inline(__always)
    func write(to output: inout OutputBuffer) { output.append(quoted: self) }

    static func read(_ reader: inout JSONReader) throws(JSONError) -> String? {
        guard try reader.nextByte() == UInt8(ascii: "\"") else { return nil }
        return try reader.scanString().string(in: reader.base)
    }
}

extension JSONPrimitive where Self: FixedWidthInteger {
    @inline(__always)
    func write(to output: inout OutputBuffer) { output.append(integer: self) }

    @inline(__always)
    static func read(_ reader: inout JSONReader) throws(JSONError) -> Self? {
        guard try reader.isAtNumber() else { return nil }
        let start = reader.position
        if let plain = reader.plainInteger() {
            if let integer = Self(exactly: plain) { return integer }
            reader.position = start
            return nil
        }
        let number = try reader.scanNumber()
        if let integer = number.integer(as: Self.self, in: reader.base) { return integer }
        reader.position = number.start
        return nil
    }
}

extension Int: JSONPrimitive {}
extension Int8: JSONPrimitive {}
extension Int16: JSONPrimitive {}
extension Int32: JSONPrimitive {}
extension Int64: JSONPrimitive {}
extension Int128: JSONPrimitive {}
extension UInt: JSONPrimitive {}
extension UInt8: JSONPrimitive {}
extension UInt16: JSONPrimitive {}
extension UInt32: JSONPrimitive {}
extension UInt64: JSONPrimitive {}
extension UInt128: JSONPrimitive {}

extension JSONPrimitive where Self: DecimalReadable {
    @inline(__always) var hasJSONText: Bool { isFinite }

    @inline(__always)
    static func read(_ reader: inout JSONReader) throws(JSONError) -> Self? {
        guard try reader.isAtNumber() else { return nil }
        let number = try JSONNumber(reader.base, at: reader.position, of: reader.count)
        guard let value = number.floatingPoint(as: Self.self, in: reader.base) else { return nil }
        reader.position = number.end
        return value
    }
}

extension Double: JSONPrimitive {
    @inline(__always)
    func write(to output: inout OutputBuffer) { output.append(finite: self) }
}

extension Float: JSONPrimitive {
    @inline(__always)
    func write(to output: inout OutputBuffer) { output.append(finite: self) }
}
