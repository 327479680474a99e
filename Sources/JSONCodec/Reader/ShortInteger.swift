// Receives a cursor that may stand at a number, and reads in one step what most of them are: few digits and nothing else.

extension JSONReader {
    @inline(__always)
    mutating func isAtNumber() throws(JSONError) -> Bool {
        let byte = try nextByte()
        return byte &- UInt8(ascii: "0") < 10 || byte == UInt8(ascii: "-")
    }

    /// The common case: at most eighteen digits and nothing else. Nil, with the cursor unmoved, for any other number.
    @inline(__always)
    mutating func readShortInteger() -> (value: Int64, start: Int)? {
        let start = position
        let isNegative = base[start] == UInt8(ascii: "-")
        let first = isNegative ? start &+ 1 : start
        let bound = min(count, first &+ 19)
        var at = first
        var value: Int64 = 0
        while at < bound {
            let digit = base[at] &- UInt8(ascii: "0")
            if digit >= 10 { break }
            value = value &* 10 &+ Int64(digit)
            at &+= 1
        }
        let digits = at &- first
        guard digits > 0, digits < 19, digits == 1 || base[first] != UInt8(ascii: "0") else { return nil }
        if at < count, base[at] == UInt8(ascii: ".") || base[at] | 0x20 == UInt8(ascii: "e") { return nil }
        position = at
        return (isNegative ? 0 &- value : value, start)
    }
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
        if places > 0 { value /= exactPowers[places] }
        position = at
        return isNegative ? -value : value
    }

    /// Where the digits end that begin here, or the bound.
    @inline(__always)
    private func passDigits(from start: Int, to bound: Int, _ digits: inout UInt64) -> Int {
        var at = start
        while at < bound {
            let digit = base[at] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            digits = digits &* 10 &+ UInt64(digit)
            at &+= 1
        }
        return at
    }
}

extension UnsafeRawBufferPointer {
    /// The number that the whole text is; nil if there is anything but a few digits in it.
    @inline(__always)
    var shortNumber: Int? {
        guard let base = baseAddress, count > 0, count < 8 else { return nil }
        let eight = EightBytes(base.assumingMemoryBound(to: UInt8.self), count: count)
        guard eight.digitCount == count, count == 1 || self[0] != UInt8(ascii: "0") else { return nil }
        return Int(truncatingIfNeeded: eight.number(ofDigits: count))
    }
}
