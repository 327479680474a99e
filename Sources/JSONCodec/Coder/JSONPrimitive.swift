// The types that are one JSON token each. Containers code them without an encoder or decoder in between.

protocol JSONPrimitive: Codable {
    /// False for what JSON has no text for: NaN and the infinities.
    var hasJSONText: Bool { get }
    func write(to output: inout OutputBuffer)
    /// The value at the cursor, which is moved behind it; nil, with the cursor unmoved, if it is of another kind or
    /// does not fit.
    static func read(_ reader: inout JSONReader) throws(JSONError) -> Self?
}

extension JSONPrimitive {
    @inline(__always) var hasJSONText: Bool { true }
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
        let number = try reader.scanNumber()
        if let value = number.floatingPoint(as: Self.self, in: reader.base) { return value }
        reader.position = number.start
        return nil
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
