// Writes numbers: integers eight digits at a time, floating point as the shortest text that reads back as the same value.

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

    /// As Foundation writes it: the shortest digits, and `1` for `1.0`. The value must be finite.
    @inline(__always)
    mutating func append<Value: BinaryFloatingPoint & CustomStringConvertible>(finite value: Value) {
        if Value.self == Double.self {
            let value = unsafeBitCast(value, to: Double.self)
            // Up to where the shortest text stops being the number's own digits.
            if appendWhole(value, upTo: 9_007_199_254_740_992) || appendShort(value) { return }
        } else if Value.self == Float.self {
            if appendWhole(Double(unsafeBitCast(value, to: Float.self)), upTo: 16_777_216) { return }
        }
        var text = value.description
        text.withUTF8 { digits in
            let isWhole =
                digits.count > 2 && digits[digits.count - 2] == UInt8(ascii: ".")
                && digits[digits.count - 1] == UInt8(ascii: "0")
            append(isWhole ? UnsafeBufferPointer(rebasing: digits.dropLast(2)) : digits)
        }
    }

    /// A whole number that is not negative zero; false for any other value.
    @inline(__always)
    private mutating func appendWhole(_ value: Double, upTo most: Double) -> Bool {
        guard value.magnitude <= most else { return false }
        let whole = Int64(value)
        guard Double(whole) == value, whole != 0 || value.sign == .plus else { return false }
        append(integer: whole)
        return true
    }

    /// A value of few decimal places in a few steps; false for any other.
    ///
    /// Two decimals of at most fifteen digits never read as the same Double, so if the one with the fewest places reads
    /// back as the value, it is the shortest text.
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
                appendFraction(digits &- whole &* UInt64(scale), places)
                return true
            }
            scale *= 10
        }
        return false
    }

    private mutating func appendFraction(_ fraction: UInt64, _ places: Int) {
        let target = reserve(9)
        target.pointee = UInt8(ascii: ".")
        EightBytes(number: fraction).write(to: target + 1, dropping: 8 &- places)
        commit(places &+ 1)
    }
}
