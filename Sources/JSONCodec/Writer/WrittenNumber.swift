// Writes numbers: integers eight digits at a time, and floating point as the shortest text that reads back as the value.

extension OutputBuffer {
    @inline(__always)
    mutating func append<Integer: FixedWidthInteger>(integer: Integer) {
        guard Integer.bitWidth <= 64 else {
            append(raw: integer.description)
            return
        }
        let negative: UInt8 = integer < 0 ? 1 : 0
        append(magnitude: UInt64(truncatingIfNeeded: integer.magnitude), negative: negative)
    }

    private mutating func append(magnitude: UInt64, negative: UInt8) {
        let target = reserve(Self.longestInteger)
        target.pointee = UInt8(ascii: "-")
        let sign = Int(negative)
        if magnitude < 10 {
            target[sign] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: magnitude)
            return commit(sign &+ 1)
        }
        guard magnitude < EightBytes.numbers else { return append(long: magnitude, sign: sign) }
        let digits = EightBytes(number: magnitude)
        let zeros = digits.leadingZeros
        digits.write(to: target + sign, dropping: zeros)
        commit(sign &+ 8 &- zeros)
    }

    /// The sign and twenty digits.
    private static let longestInteger = 21

    @inline(never)
    private mutating func append(long magnitude: UInt64, sign: Int) {
        commit(sign)
        let (above, rest) = magnitude.quotientAndRemainder(dividingBy: EightBytes.numbers)
        append(magnitude: above, negative: 0)
        EightBytes(number: rest).write(to: reserve(8), dropping: 0)
        commit(8)
    }

    /// The shortest digits, as Foundation writes them: `1` for `1.0`, and an exponent where the number is very great or
    /// very small. The value must be finite.
    mutating func append(finite value: Double) {
        if appendWhole(value, upTo: 0x1p53) || appendShort(value) { return }
        append(
            mantissa: value.significandBitPattern, field: Int(value.exponentBitPattern), mantissaBits: 52,
            isNegative: value.sign == .minus, isPlain: value.magnitude < 0x1p53)
    }

    mutating func append(finite value: Float) {
        if appendWhole(Double(value), upTo: 0x1p24) { return }
        append(
            mantissa: UInt64(value.significandBitPattern), field: Int(value.exponentBitPattern), mantissaBits: 23,
            isNegative: value.sign == .minus, isPlain: value.magnitude < 0x1p24)
    }

    /// Writes a whole number up to a bound, except negative zero. Returns false for any other value.
    @inline(__always)
    private mutating func appendWhole(_ value: Double, upTo most: Double) -> Bool {
        guard value.magnitude <= most else { return false }
        let whole = Int64(value)
        guard Double(whole) == value, whole != 0 || value.sign == .plus else { return false }
        append(integer: whole)
        return true
    }

    /// Writes a value of one to four decimal places, the usual case. Returns false for any other.
    ///
    /// Two decimals of at most fifteen digits never read as the same value. So a decimal that reads as the value is the shortest
    /// text, once the zeros at its end are removed.
    private mutating func appendShort(_ value: Double) -> Bool {
        let magnitude = value.magnitude
        guard magnitude >= 0.001, magnitude < 10_000_000_000 else { return false }
        // Rounds to the nearest whole number, without a function call.
        let digits = UInt64(magnitude * 10_000 + 0.5)
        guard Double(digits) / 10_000 == magnitude else { return false }
        let (whole, fraction) = digits.quotientAndRemainder(dividingBy: 10_000)
        append(magnitude: whole, negative: value < 0 ? 1 : 0)
        let target = reserve(9)
        target.pointee = UInt8(ascii: ".")
        let places = EightBytes(number: fraction)
        places.write(to: target + 1, dropping: 4)
        commit(5 &- places.zerosAtEnd)
        return true
    }

    /// Writes the value of these bits, which is not a small whole number. A plain number has a fraction, and gets no exponent
    /// unless it is very small.
    @inline(never)
    private mutating func append(mantissa: UInt64, field: Int, mantissaBits: Int, isNegative: Bool, isPlain: Bool) {
        if isNegative { append(UInt8(ascii: "-")) }
        guard field != 0 || mantissa != 0 else { return append(UInt8(ascii: "0")) }
        let bias = mantissaBits == 52 ? 1023 : 127
        let shortest = ShortestDigits(
            field == 0 ? mantissa : mantissa | 1 &<< UInt64(mantissaBits),
            power: max(field, 1) &- bias &- mantissaBits, isLowerCloser: mantissa == 0 && field > 1)
        let start = count
        append(magnitude: shortest.digits, negative: 0)
        // The number of digits before the decimal point; negative for zeros behind it.
        let point = shortest.exponent &+ count &- start
        while base[count &- 1] == UInt8(ascii: "0") { truncate(to: count &- 1) }
        if isPlain, point > 0 {
            insert(".", at: start &+ point)
        } else if isPlain, point > -4 {
            // Inserts `0.` and as many zeros as needed before the digits.
            insert("0.0000", dropping: point &+ 4, at: start)
        } else {
            if count &- start > 1 { insert(".", at: start &+ 1) }
            let exponent = point &- 1
            append(exponent < 0 ? "e-" : "e+")
            if exponent.magnitude < 10 { append(UInt8(ascii: "0")) }
            append(magnitude: UInt64(exponent.magnitude), negative: 0)
        }
    }

    /// Inserts a text without its last characters.
    @inline(__always)
    private mutating func insert(_ text: StaticString, dropping dropped: Int = 0, at place: Int) {
        let length = text.utf8CodeUnitCount &- dropped
        let target = reserve(length) - (count &- place)
        (target + length).update(from: target, count: count &- place)
        target.update(from: text.utf8Start, count: length)
        commit(length)
    }
}
