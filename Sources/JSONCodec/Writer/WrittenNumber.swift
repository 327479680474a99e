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

    /// A whole number up to a bound, but not negative zero. False for any other value.
    @inline(__always)
    private mutating func appendWhole(_ value: Double, upTo most: Double) -> Bool {
        guard value.magnitude <= most else { return false }
        let whole = Int64(value)
        guard Double(whole) == value, whole != 0 || value.sign == .plus else { return false }
        append(integer: whole)
        return true
    }

    /// A value of one to four decimal places, the usual case. False for any other.
    ///
    /// Two decimals of at most fifteen digits never read as the same value. So the one with the fewest places that reads back
    /// as the value is the shortest text.
    private mutating func appendShort(_ value: Double) -> Bool {
        let magnitude = value.magnitude
        guard magnitude >= 0.001, magnitude < 10_000_000_000 else { return false }
        var scale = 10.0
        for places in 1...4 {
            // To the nearest whole number, without a call for it.
            let digits = UInt64(magnitude * scale + 0.5)
            if Double(digits) / scale == magnitude {
                let whole = UInt64(magnitude)
                append(magnitude: whole, negative: value < 0 ? 1 : 0)
                let target = reserve(9)
                target.pointee = UInt8(ascii: ".")
                EightBytes(number: digits &- whole &* UInt64(scale)).write(to: target + 1, dropping: 8 &- places)
                commit(places &+ 1)
                return true
            }
            scale *= 10
        }
        return false
    }

    /// A value of these bits that is no small whole number. A plain one has a fraction, and is written without an exponent unless it is very small.
    @inline(never)
    private mutating func append(mantissa: UInt64, field: Int, mantissaBits: Int, isNegative: Bool, isPlain: Bool) {
        let target = reserve(Self.longestFraction)
        target.pointee = UInt8(ascii: "-")
        let text = target + (isNegative ? 1 : 0)
        let sign = isNegative ? 1 : 0
        if field == 0 && mantissa == 0 {
            text.pointee = UInt8(ascii: "0")
            return commit(sign &+ 1)
        }
        let bias = mantissaBits == 52 ? 1023 : 127
        let shortest = ShortestDigits(
            field == 0 ? mantissa : mantissa | 1 &<< UInt64(mantissaBits),
            power: max(field, 1) &- bias &- mantissaBits, isLowerCloser: mantissa == 0 && field > 1)
        commit(sign &+ DecimalLayout(shortest).write(to: text, isPlain: isPlain))
    }

    /// A sign, 17 digits, a point, an exponent, and what is written behind them and counts for nothing.
    private static let longestFraction = 64
}

/// Seventeen digits as text, and which of them are written.
private struct DecimalLayout {
    /// The first digit, and the others in groups of eight.
    private let first: UInt8
    private let groups: (EightBytes, EightBytes)
    private let leadingZeros: Int
    /// How many digits there are between the leading zeros and those at the end.
    private let count: Int
    /// How many digits stand before the decimal point. Negative for zeros behind it.
    private let point: Int

    @inline(__always)
    init(_ shortest: ShortestDigits) {
        let (top, rest) = shortest.digits.quotientAndRemainder(dividingBy: EightBytes.numbers * EightBytes.numbers)
        let (high, low) = rest.quotientAndRemainder(dividingBy: EightBytes.numbers)
        first = UInt8(truncatingIfNeeded: top)
        groups = (EightBytes(number: high), EightBytes(number: low))
        if top > 0 {
            leadingZeros = 0
        } else {
            leadingZeros = high > 0 ? 1 &+ groups.0.leadingZeros : 9 &+ groups.1.leadingZeros
        }
        let zerosAtEnd =
            low > 0 ? groups.1.zerosAtEnd : high > 0 ? 8 &+ groups.0.zerosAtEnd : 16
        count = 17 &- leadingZeros &- zerosAtEnd
        point = shortest.exponent &+ 17 &- leadingZeros
    }

    /// Writes the number and returns its length. There is room for 60 bytes.
    @inline(__always)
    func write(to text: UnsafeMutablePointer<UInt8>, isPlain: Bool) -> Int {
        guard isPlain, point > -4 else { return writeWithExponent(to: text) }
        if point <= 0 {
            let zeros = 2 &- point
            UnsafeMutableRawPointer(text).storeBytes(of: zerosBehindPoint, as: UInt64.self)
            writeDigits(to: text + zeros)
            return zeros &+ count
        }
        writeDigits(to: text)
        // The fraction moves by one, from its end.
        let fraction = UnsafeMutableRawPointer(text + point)
        let (head, tail) = (
            fraction.loadUnaligned(as: UInt64.self), fraction.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        )
        fraction.storeBytes(of: head, toByteOffset: 1, as: UInt64.self)
        fraction.storeBytes(of: tail, toByteOffset: 9, as: UInt64.self)
        text[point] = UInt8(ascii: ".")
        return count &+ 1
    }

    /// `0.00000`
    private var zerosBehindPoint: UInt64 { (0x3030_3030_3030_2E30 as UInt64).littleEndian }

    private func writeWithExponent(to text: UnsafeMutablePointer<UInt8>) -> Int {
        writeDigits(to: text + 1)
        text[0] = text[1]
        text[1] = UInt8(ascii: ".")
        var at = count > 1 ? count &+ 1 : 1
        let exponent = point &- 1
        text[at] = UInt8(ascii: "e")
        text[at &+ 1] = exponent < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+")
        at &+= 2
        let magnitude = EightBytes(number: UInt64(exponent.magnitude))
        let dropped = min(magnitude.leadingZeros, 6)
        magnitude.write(to: text + at, dropping: dropped)
        return at &+ 8 &- dropped
    }

    /// Writes the digits without their leading zeros, and some more bytes behind them.
    @inline(__always)
    private func writeDigits(to text: UnsafeMutablePointer<UInt8>) {
        if leadingZeros == 0 {
            text[0] = UInt8(ascii: "0") &+ first
            groups.0.write(to: text + 1, dropping: 0)
            groups.1.write(to: text + 9, dropping: 0)
        } else if leadingZeros <= 8 {
            let dropped = leadingZeros &- 1
            groups.0.write(to: text, dropping: dropped)
            groups.1.write(to: text + (8 &- dropped), dropping: 0)
        } else {
            groups.1.write(to: text, dropping: leadingZeros &- 9)
        }
    }
}
