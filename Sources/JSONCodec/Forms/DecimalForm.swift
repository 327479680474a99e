// Decimal as Foundation's coder writes it: a JSON number with all its digits.

enum DecimalForm {
    static func encode(_ value: some Encodable, in frame: EncodingFramePointer) throws {
        // A Decimal's description is its number; only that of NaN is no JSON.
        guard let text = (value as? any CustomStringConvertible)?.description, text != "NaN" else {
            throw frame.invalid(value, "Unable to encode Decimal.nan directly in JSON.")
        }
        frame.output.pointee.append(raw: text)
    }
}

extension DecimalForm {
    static func decode<Value: Decodable>(_ type: Value.Type, in frame: DecodingFramePointer) throws -> Value {
        let state = frame.pointee.state
        let found: JSONNumber?
        do throws(JSONError) {
            found = try state.pointee.reader.isAtNumber() ? state.pointee.reader.scanNumber() : nil
        } catch { throw state.malformed(error) }
        guard let number = found else { throw frame.mismatch(type) }
        let base = state.pointee.reader.base
        guard let parts = DecimalParts(number, in: base) else {
            state.seek(number.start, depth: frame.pointee.depth)
            throw frame.mismatch(type)
        }
        let natural = OutputMemory()
        parts.write(to: &natural.buffer)
        return try natural.decodeNaturally(type)
    }
}

/// The fields that a Decimal codes itself by.
private struct DecimalParts {
    private var mantissa: UInt128
    private var exponent: Int
    private let isNegative: Bool

    /// Nil for a number that no Decimal holds. Digits beyond the mantissa's are cut off.
    init?(_ number: JSONNumber, in base: UnsafePointer<UInt8>) {
        isNegative = number.isNegative
        (mantissa, exponent, _) = number.decimal(as: UInt128.self, in: base)
        guard (-128...127).contains(exponent) else { return nil }
        if mantissa == 0 { exponent = 0 }
        while exponent < 127, mantissa > 0, mantissa % 10 == 0 {
            mantissa /= 10
            exponent += 1
        }
    }

    func write(to output: inout OutputBuffer) {
        var words: [UInt16] = []
        var rest = mantissa
        while rest > 0 {
            words.append(UInt16(truncatingIfNeeded: rest))
            rest &>>= 16
        }
        let padded = words + Array(repeating: 0, count: 8 - words.count)
        output.append("{\"exponent\":")
        output.append(integer: exponent)
        output.append(",\"length\":")
        output.append(integer: words.count)
        output.append(isNegative && mantissa != 0 ? ",\"isNegative\":true" : ",\"isNegative\":false")
        output.append(",\"isCompact\":true,\"mantissa\":[")
        output.append(raw: padded.map(\.description).joined(separator: ","))
        output.append("]}")
    }
}
