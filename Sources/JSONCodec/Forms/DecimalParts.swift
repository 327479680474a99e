// The two forms of a Decimal: a JSON number with all its digits, as in Foundation's coder, and the fields it encodes itself by.

/// The fields by which a Decimal encodes itself.
struct DecimalParts {
    private var mantissa: UInt128
    private var exponent: Int
    private let isNegative: Bool

    /// Nil if no Decimal can hold the number. Digits that do not fit the mantissa are cut off.
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
