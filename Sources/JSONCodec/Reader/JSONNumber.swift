// Scans numbers: finds the end of a number and computes its value on the way. All readers of numbers use it.

/// A number in a text, with its value if it has at most nineteen digits.
struct JSONNumber {
    let start: Int
    let end: Int
    let isNegative: Bool
    /// Whether it is written without a fraction and an exponent.
    let isInteger: Bool
    /// Whether it is written with more than nineteen digits. Then `significand` is of no use.
    let isLong: Bool
    /// The value is ± significand × 10^exponent.
    let significand: UInt64
    let exponent: Int

    /// The number that begins at an offset of a text.
    @inline(__always)
    init(_ base: UnsafePointer<UInt8>, at start: Int, of count: Int) throws(JSONError) {
        var at = start
        let isNegative = base[at] == UInt8(ascii: "-")
        if isNegative { at &+= 1 }
        let first = at
        var significand: UInt64 = 0
        Self.passDigits(base, &at, to: count, into: &significand)
        var digits = at &- first
        guard digits > 0, digits == 1 || base[first] != UInt8(ascii: "0") else {
            throw Self.malformed(digits > 0 ? first &+ 1 : at, count)
        }
        var exponent = 0
        var isInteger = true
        if at < count, base[at] == UInt8(ascii: ".") {
            at &+= 1
            let fraction = at
            Self.passDigits(base, &at, to: count, into: &significand)
            guard at > fraction else { throw Self.malformed(at, count) }
            digits &+= at &- fraction
            exponent = fraction &- at
            isInteger = false
        }
        if at < count, base[at] | 0x20 == UInt8(ascii: "e") {
            exponent &+= try Self.exponent(base, &at, to: count)
            isInteger = false
        }
        guard at &- start <= JSONReader.longestNumber else {
            throw JSONError(offset: start, reason: .numberTooLong(limit: JSONReader.longestNumber))
        }
        (self.start, end, self.isNegative, self.isInteger) = (start, at, isNegative, isInteger)
        (isLong, self.significand, self.exponent) = (digits > 19, significand, exponent)
    }

    /// Reads eight digits at a time while as many bytes are left. With more than nineteen digits the value is of no use.
    @inline(__always)
    private static func passDigits(
        _ base: UnsafePointer<UInt8>, _ at: inout Int, to end: Int, into value: inout UInt64
    ) {
        while at &+ 8 <= end {
            let eight = EightBytes(base, at: at)
            let count = eight.digitCount
            if count == 0 { return }
            value = value &* powersOfTen[count] &+ eight.number(ofDigits: count)
            at &+= count
            if count < 8 { return }
        }
        while at < end, base[at] &- UInt8(ascii: "0") < 10 {
            value = value &* 10 &+ UInt64(base[at] &- UInt8(ascii: "0"))
            at &+= 1
        }
    }

    /// Reads from the letter of an exponent to behind its last digit. Very great exponents are lowered to a limit.
    @inline(never)
    private static func exponent(
        _ base: UnsafePointer<UInt8>, _ at: inout Int, to end: Int
    ) throws(JSONError) -> Int {
        at &+= 1
        let isNegative = at < end && base[at] == UInt8(ascii: "-")
        if isNegative || at < end && base[at] == UInt8(ascii: "+") { at &+= 1 }
        let start = at
        var value = 0
        while at < end, base[at] &- UInt8(ascii: "0") < 10 {
            value = min(value &* 10 &+ Int(base[at] &- UInt8(ascii: "0")), 1_000_000)
            at &+= 1
        }
        guard at > start else { throw malformed(at, end) }
        return isNegative ? 0 &- value : value
    }

    @inline(never)
    private static func malformed(_ at: Int, _ count: Int) -> JSONError {
        JSONError(offset: at, reason: at < count ? .malformedNumber : .unexpectedEnd)
    }
}

extension JSONNumber {
    /// Reads an integer of at most eighteen digits, the usual case. Returns nil for any other number.
    @inline(__always)
    static func plainInteger(
        _ base: UnsafePointer<UInt8>, at start: Int, of count: Int
    ) -> (value: Int64, end: Int)? {
        let isNegative = base[start] == UInt8(ascii: "-")
        let first = isNegative ? start &+ 1 : start
        var at = first
        var value: UInt64 = 0
        passDigits(base, &at, to: count, into: &value)
        let digits = at &- first
        guard digits > 0, digits < 19, digits == 1 || base[first] != UInt8(ascii: "0") else { return nil }
        if at < count, base[at] == UInt8(ascii: ".") || base[at] | 0x20 == UInt8(ascii: "e") { return nil }
        let integer = Int64(bitPattern: value)
        return (isNegative ? 0 &- integer : integer, at)
    }

    /// The integer that a whole text is, if it has at most eighteen digits and nothing around it. The usual result of a call.
    @inline(__always)
    static func integer(in text: UnsafeRawBufferPointer) -> Int? {
        guard let base = text.baseAddress, !text.isEmpty,
            let (value, end) = plainInteger(base.assumingMemoryBound(to: UInt8.self), at: 0, of: text.count),
            end == text.count
        else { return nil }
        return Int(value)
    }

    /// Returns the offset behind a short number, maybe with a fraction, that begins before the bound. Returns 0 for any other.
    /// At least eight bytes of text must follow the bound.
    @inline(__always)
    static func endOfPlain(_ base: UnsafePointer<UInt8>, _ start: Int, _ bound: Int) -> Int {
        let whole = base[start] == UInt8(ascii: "-") ? start &+ 1 : start
        // A long number may need the general scanner.
        let bound = min(bound, start &+ 32)
        var at = endOfDigits(base, whole, bound)
        guard at > whole, at == whole &+ 1 || base[whole] != UInt8(ascii: "0") else { return 0 }
        if base[at] == UInt8(ascii: ".") {
            let fraction = at &+ 1
            at = endOfDigits(base, fraction, bound)
            guard at > fraction else { return 0 }
        }
        return at < bound && base[at] | 0x20 != UInt8(ascii: "e") ? at : 0
    }

    /// May return an offset slightly behind the bound.
    @inline(__always)
    private static func endOfDigits(_ base: UnsafePointer<UInt8>, _ start: Int, _ bound: Int) -> Int {
        var at = start
        while at < bound {
            let count = EightBytes(base, at: at).digitCount
            at &+= count
            if count < 8 { break }
        }
        return at
    }
}

extension JSONNumber {
    /// The number as an integer type, if it is such an integer: `5.0` and `1e2` are integers, `1.5` and `1e400` are not.
    @inline(__always)
    func integer<Integer: FixedWidthInteger>(as type: Integer.Type, in base: UnsafePointer<UInt8>) -> Integer? {
        guard !isLong, exponent == 0, significand <= UInt64(Int64.max) else { return longInteger(in: base) }
        let value = Int64(bitPattern: significand)
        return Integer(exactly: isNegative ? 0 &- value : value)
    }

    @inline(never)
    private func longInteger<Integer: FixedWidthInteger>(in base: UnsafePointer<UInt8>) -> Integer? {
        var (value, exponent, isExact) = decimal(as: UInt128.self, in: base)
        guard isExact else { return nil }
        if value == 0 { return 0 }
        while exponent < 0 {
            guard value % 10 == 0 else { return nil }
            value /= 10
            exponent += 1
        }
        while exponent > 0 {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            value = product
            exponent -= 1
        }
        guard isNegative else { return Integer(exactly: value) }
        return value <= Int128.min.magnitude ? Integer(exactly: Int128(truncatingIfNeeded: 0 &- value)) : nil
    }

    /// The value as a significand and a power of ten. Digits that do not fit are cut off; the result is exact if those are zeros.
    func decimal<Significand: FixedWidthInteger & UnsignedInteger>(
        as type: Significand.Type, in base: UnsafePointer<UInt8>
    ) -> (significand: Significand, exponent: Int, isExact: Bool) {
        var significand: Significand = 0
        var exponent = writtenExponent(in: base)
        var (isFull, isExact) = (false, true)
        eachDigit(in: base) { digit, isFraction in
            if !isFull {
                let (product, isLarge) = significand.multipliedReportingOverflow(by: 10)
                let (sum, isLarger) = product.addingReportingOverflow(Significand(digit))
                isFull = isLarge || isLarger
                if !isFull { significand = sum }
            }
            if isFull && digit != 0 { isExact = false }
            if isFull != isFraction { exponent += isFull ? 1 : -1 }
        }
        return (significand, exponent, isExact)
    }

    /// All digits as one number, and the power of ten by which to multiply it.
    func bigDecimal(in base: UnsafePointer<UInt8>) -> (BigNatural, exponent: Int) {
        var number = BigNatural(0)
        var exponent = writtenExponent(in: base)
        eachDigit(in: base) { digit, isFraction in
            number.multiply(by: 10, adding: UInt64(digit))
            if isFraction { exponent -= 1 }
        }
        return (number, exponent)
    }

    private func eachDigit(in base: UnsafePointer<UInt8>, _ body: (_ digit: UInt8, _ isFraction: Bool) -> Void) {
        var isFraction = false
        for at in (isNegative ? start + 1 : start)..<end {
            if base[at] | 0x20 == UInt8(ascii: "e") { return }
            if base[at] == UInt8(ascii: ".") {
                isFraction = true
            } else {
                body(base[at] &- UInt8(ascii: "0"), isFraction)
            }
        }
    }

    private func writtenExponent(in base: UnsafePointer<UInt8>) -> Int {
        let digits = UnsafeBufferPointer(start: base + start, count: end - start)
        guard var at = digits.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return 0 }
        return (try? Self.exponent(base + start, &at, to: digits.count)) ?? 0
    }
}

private let powersOfTen: [UInt64] = [
    1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000,
]
