// From a scanned number to the nearest floating-point value.

extension JSONNumber {
    /// Nil if the number is greater than the type's finite values, or not zero and smaller than its least one.
    @inline(__always)
    func floatingPoint<Value: BinaryFloatingPoint & LosslessStringConvertible>(
        as type: Value.Type, in base: UnsafePointer<UInt8>
    ) -> Value? {
        // Both factors are exact, so the one rounding of the product or quotient is the right one.
        if Value.self == Double.self, isExact, significand <= 1 &<< 53, exponent >= -22, exponent <= 22 {
            var value = Double(significand)
            if exponent < 0 { value /= Self.power(0 &- exponent) } else { value *= Self.power(exponent) }
            return Value(isNegative ? -value : value)
        }
        return long(as: type, in: base)
    }

    @inline(never)
    private func long<Value: BinaryFloatingPoint & LosslessStringConvertible>(
        as type: Value.Type, in base: UnsafePointer<UInt8>
    ) -> Value? {
        let text = UnsafeBufferPointer(start: base + start, count: end &- start)
        guard let value = Value(String(decoding: text, as: UTF8.self)), value.isFinite else { return nil }
        return value == 0 && significand != 0 ? nil : value
    }

    @inline(__always)
    private static func power(_ exponent: Int) -> Double { powersOfTen[exponent] }
}

extension JSONReader {
    /// The common case: at most sixteen digits, or fifteen and a point among them, and nothing else. Nil, with the cursor
    /// unmoved, for any other number, and for one that ends with the text.
    @inline(__always)
    mutating func readShortDouble() -> Double? {
        let isNegative = base[position] == UInt8(ascii: "-")
        let start = isNegative ? position &+ 1 : position
        let bound = min(count, start &+ 17)
        var digits: UInt64 = 0
        var at = passDigits(from: start, to: bound, &digits)
        guard at < bound, at > start, at == start &+ 1 || base[start] != UInt8(ascii: "0") else { return nil }
        var places = 0
        if base[at] == UInt8(ascii: ".") {
            let fraction = at &+ 1
            at = passDigits(from: fraction, to: bound, &digits)
            places = at &- fraction
            guard at < bound, places > 0 else { return nil }
        }
        guard base[at] | 0x20 != UInt8(ascii: "e") else { return nil }
        var value = Double(Int64(bitPattern: digits))
        // Fifteen digits are exact, and so is the power: the one rounding is the right one.
        if places > 0 { value /= powersOfTen[places] }
        position = at
        return isNegative ? -value : value
    }
}

/// All powers of ten that a Double holds exactly.
private let powersOfTen: InlineArray<23, Double> = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
]
