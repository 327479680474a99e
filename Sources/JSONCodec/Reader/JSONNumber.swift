// A number as the scan found it: its place, and its value as a significand and a power of ten for as long as nineteen
// digits hold it. Turned into integers here, into floating point beside this file.

struct JSONNumber {
    let start: Int
    var end: Int
    var isNegative = false
    /// Neither a fraction nor an exponent is written.
    var isInteger = true
    /// The value is ± significand × 10^exponent, exactly so if `isExact`; otherwise digits were dropped.
    var significand: UInt64 = 0
    var exponent = 0
    var isExact = true

    /// The integer of this type that the number is, if it is one: `5.0` and `1e2` are integers, `1e400` is none.
    @inline(__always)
    func integer<Integer: FixedWidthInteger>(
        as type: Integer.Type, in base: UnsafePointer<UInt8>
    ) -> Integer? {
        if isExact && exponent == 0 {
            if !isNegative { return Integer(exactly: significand) }
            if significand <= UInt64(Int64.max) { return Integer(exactly: 0 &- Int64(significand)) }
        }
        return longInteger(in: base)
    }

    /// Digit by digit, for what nineteen digits do not hold and for what is written with a fraction or an exponent.
    private func longInteger<Integer: FixedWidthInteger>(in base: UnsafePointer<UInt8>) -> Integer? {
        var scale = writtenExponent(in: base)
        var value: Integer = 0
        var inFraction = false
        var dropsDigits = false
        func take(_ digit: UInt8) -> Bool {
            let (shifted, first) = value.multipliedReportingOverflow(by: 10)
            // A type of eight bits holds every digit, and a negative one is built downwards to reach its minimum.
            let (sum, second) =
                isNegative
                ? shifted.subtractingReportingOverflow(Integer(digit)) : shifted.addingReportingOverflow(Integer(digit))
            value = sum
            return !first && !second
        }
        // Behind the fraction's first `scale` digits only zeros may follow; with a negative exponent the same holds for
        // the last digits of the whole part.
        var whole = 0
        for at in start..<end {
            let byte = base[at]
            if byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e") { break }
            if byte != UInt8(ascii: "-") { whole &+= 1 }
        }
        var wholeKept = scale < 0 ? whole &+ scale : whole
        for at in start..<end {
            let byte = base[at]
            if byte | 0x20 == UInt8(ascii: "e") { break }
            if byte == UInt8(ascii: "-") { continue }
            if byte == UInt8(ascii: ".") {
                inFraction = true
                continue
            }
            let digit = byte &- UInt8(ascii: "0")
            if inFraction ? scale > 0 : wholeKept > 0 {
                if inFraction { scale &-= 1 } else { wholeKept &-= 1 }
                guard take(digit) else { return nil }
            } else if digit != 0 {
                dropsDigits = true
            }
        }
        guard !dropsDigits else { return nil }
        if value == 0 { return 0 }
        while scale > 0 {
            guard take(0) else { return nil }
            scale &-= 1
        }
        return value
    }

    /// The exponent as written, held within what a number of this length can need.
    private func writtenExponent(in base: UnsafePointer<UInt8>) -> Int {
        var at = end
        while at > start, base[at &- 1] | 0x20 != UInt8(ascii: "e") { at &-= 1 }
        guard at > start else { return 0 }
        return Self.exponent(in: base, from: at, to: end)
    }

    static let exponentBound = 1_000_000

    static func exponent(in base: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
        var value = 0
        for at in start..<end where base[at] >= UInt8(ascii: "0") {
            value = min(value &* 10 &+ Int(base[at] &- UInt8(ascii: "0")), exponentBound)
        }
        return base[start] == UInt8(ascii: "-") ? 0 &- value : value
    }
}

extension JSONReader {
    /// From the first character of a number to behind its last.
    mutating func scanNumber() throws(JSONError) -> JSONNumber {
        var number = JSONNumber(start: position, end: position)
        var at = position
        if base[at] == UInt8(ascii: "-") {
            number.isNegative = true
            at &+= 1
        }
        let wholeStart = at
        var digits = scanDigits(&at, into: &number.significand)
        guard digits > 0 else { throw malformedNumber(at) }
        guard digits == 1 || base[wholeStart] != UInt8(ascii: "0") else { throw malformedNumber(wholeStart &+ 1) }
        if at < count, base[at] == UInt8(ascii: ".") {
            number.isInteger = false
            at &+= 1
            let fraction = scanDigits(&at, into: &number.significand)
            guard fraction > 0 else { throw malformedNumber(at) }
            digits &+= fraction
            number.exponent = 0 &- fraction
        }
        if digits > 19 { number.takeDigitsAgain(base, from: wholeStart, to: at) }
        if at < count, base[at] | 0x20 == UInt8(ascii: "e") {
            number.isInteger = false
            at &+= 1
            let exponentStart = at
            if at < count, base[at] == UInt8(ascii: "+") || base[at] == UInt8(ascii: "-") { at &+= 1 }
            var unused: UInt64 = 0
            guard scanDigits(&at, into: &unused) > 0 else { throw malformedNumber(at) }
            number.exponent &+= JSONNumber.exponent(in: base, from: exponentStart, to: at)
        }
        guard at &- position <= Self.longestNumber else { throw failure(.numberTooLong(limit: Self.longestNumber)) }
        number.end = at
        position = at
        return number
    }

    /// How many digits follow. Beyond nineteen the value is of no use.
    @inline(__always)
    private func scanDigits(_ at: inout Int, into value: inout UInt64) -> Int {
        let start = at
        at = passDigits(from: start, to: count, &value)
        return at &- start
    }

    /// Where the digits end that begin here, or the bound.
    @inline(__always)
    func passDigits(from start: Int, to bound: Int, _ digits: inout UInt64) -> Int {
        var at = start
        while at < bound {
            let digit = base[at] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            digits = digits &* 10 &+ UInt64(digit)
            at &+= 1
        }
        return at
    }

    @inline(never)
    private func malformedNumber(_ at: Int) -> JSONError {
        JSONError(offset: at, reason: at < count ? .malformedNumber : .unexpectedEnd)
    }
}

extension JSONNumber {
    /// Collects the first nineteen significant digits of a longer number, and notes whether any other is not zero.
    fileprivate mutating func takeDigitsAgain(_ base: UnsafePointer<UInt8>, from start: Int, to end: Int) {
        significand = 0
        exponent = 0
        var kept = 0
        var inFraction = false
        for at in start..<end {
            guard base[at] != UInt8(ascii: ".") else {
                inFraction = true
                continue
            }
            let digit = UInt64(base[at] &- UInt8(ascii: "0"))
            if kept < 19 {
                significand = significand &* 10 &+ digit
                if significand != 0 { kept &+= 1 }
                if inFraction { exponent &-= 1 }
            } else {
                if digit != 0 { isExact = false }
                if !inFraction { exponent &+= 1 }
            }
        }
    }
}
