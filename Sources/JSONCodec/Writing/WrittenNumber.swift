// Writes numbers: integers two digits at a time, floating point as the shortest text that reads back as the same value.

private let digitPairs: StaticString = """
    0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
    5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """

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
        let target = reserve(21)
        target.pointee = UInt8(ascii: "-")
        if magnitude < 10 {
            target[Int(negative)] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: magnitude)
            commit(1 &+ Int(negative))
            return
        }
        let length = Self.digits(magnitude) &+ Int(negative)
        let pairs = digitPairs.utf8Start
        var at = length
        var rest = magnitude
        while rest >= 100 {
            let pair = Int(truncatingIfNeeded: rest % 100) &* 2
            rest /= 100
            at &-= 2
            target[at] = pairs[pair]
            target[at &+ 1] = pairs[pair &+ 1]
        }
        if rest >= 10 {
            target[at &- 2] = pairs[Int(truncatingIfNeeded: rest) &* 2]
            target[at &- 1] = pairs[Int(truncatingIfNeeded: rest) &* 2 &+ 1]
        } else {
            target[at &- 1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest)
        }
        commit(length)
    }

    @inline(__always)
    private static func digits(_ value: UInt64) -> Int {
        var count = 1
        var bound: UInt64 = 10
        while count < 20 && value >= bound {
            count &+= 1
            bound = bound &* 10
            if count == 20 { break }
        }
        return count
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
        let target = reserve(places &+ 1)
        target.pointee = UInt8(ascii: ".")
        var rest = fraction
        for at in stride(from: places, to: 0, by: -1) {
            target[at] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        commit(places &+ 1)
    }
}
