// Whole numbers of any size. They compute the powers of ten, and decide between two neighbouring floating-point values.

/// A whole number, zero or greater, of as many bits as it needs.
struct BigNatural: Comparable {
    /// The lowest word first. The highest word is not zero.
    private var words: [UInt64]

    init(_ value: UInt64) { words = value == 0 ? [] : [value] }

    /// Two to the power of a multiple of 64.
    init(powerOfTwo exponent: Int) { words = Array(repeating: 0, count: exponent / 64) + [1] }

    mutating func multiply(by factor: UInt64, adding addend: UInt64 = 0) {
        var carry = addend
        for index in words.indices {
            let (high, low) = words[index].multipliedFullWidth(by: factor)
            let (sum, overflow) = low.addingReportingOverflow(carry)
            words[index] = sum
            carry = high &+ (overflow ? 1 : 0)
        }
        if carry > 0 { words.append(carry) }
    }

    mutating func multiply(byPowerOfTen exponent: Int) {
        for _ in 0..<exponent / 19 { multiply(by: 10_000_000_000_000_000_000) }
        for _ in 0..<exponent % 19 { multiply(by: 10) }
    }

    mutating func multiply(byPowerOfTwo exponent: Int) {
        multiply(by: 1 &<< UInt64(exponent % 64))
        if !words.isEmpty { words.insert(contentsOf: repeatElement(0, count: exponent / 64), at: 0) }
    }

    /// Drops the remainder.
    mutating func divide(by divisor: UInt64) {
        var remainder: UInt64 = 0
        for index in words.indices.reversed() {
            (words[index], remainder) = divisor.dividingFullWidth((remainder, words[index]))
        }
        if words.last == 0 { words.removeLast() }
    }

    /// The highest 128 bits that are not leading zeros, with zeros behind the last bit of a smaller number.
    var leadingBits: UInt128 {
        let top = words.suffix(3)
        guard let highest = top.last else { return 0 }
        let shift = highest.leadingZeroBitCount
        func word(_ distance: Int) -> UInt64 { distance < top.count ? top[top.endIndex - 1 - distance] : 0 }
        let bits = UInt128(word(0)) &<< 64 | UInt128(word(1))
        return shift == 0 ? bits : bits &<< UInt128(shift) | UInt128(word(2) &>> UInt64(64 - shift))
    }

    static func < (left: BigNatural, right: BigNatural) -> Bool {
        guard left.words.count == right.words.count else { return left.words.count < right.words.count }
        return left.words.reversed().lexicographicallyPrecedes(right.words.reversed())
    }
}
