// The powers of ten that decimal and binary floating point are turned into each other with.

/// For each power of ten that a `Double` needs, its first 128 bits without leading zeros.
enum PowersOfTen {
    static let range = -342...324

    /// The bits that reading a number takes: cut off, and one more where a short reciprocal is not exact.
    @inline(__always)
    static func bits(_ exponent: Int) -> UInt128 { table[exponent &- range.lowerBound] }

    /// The bits rounded up, which writing a number takes.
    @inline(__always)
    static func roundedUp(_ exponent: Int) -> UInt128 {
        bits(exponent) &+ (exponent < leastRoundedUp || exponent > greatestExact ? 1 : 0)
    }

    /// The powers from here to zero are rounded up in the table.
    private static let leastRoundedUp = -27
    /// Five to this power has at most 128 bits, five to the next power has more.
    private static let greatestExact = 55

    /// Computed when the first number needs it, in about a tenth of a millisecond.
    private static let table: [UInt128] = {
        var reciprocals: [UInt128] = []
        // Enough bits for the least reciprocal to have 128. A quotient cut off in each step is the whole quotient cut off.
        var reciprocal = BigNatural(powerOfTwo: 1024)
        for exponent in 1...(0 - range.lowerBound) {
            reciprocal.divide(by: 5)
            reciprocals.append(reciprocal.leadingBits &+ (0 - exponent >= leastRoundedUp ? 1 : 0))
        }
        var power = BigNatural(1)
        var powers: [UInt128] = []
        for _ in 0...range.upperBound {
            powers.append(power.leadingBits)
            power.multiply(by: 5)
        }
        return reciprocals.reversed() + powers
    }()
}
