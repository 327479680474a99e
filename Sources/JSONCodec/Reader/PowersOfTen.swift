// The powers of ten for converting between decimal and binary floating point.

/// For each power of ten that a `Double` needs, its first 128 bits without leading zeros.
enum PowersOfTen {
    static let range = -342...324

    /// The bits for reading a number: truncated, but rounded up where a short reciprocal is not exact.
    @inline(__always)
    static func bits(_ exponent: Int) -> UInt128 { table[exponent &- range.lowerBound] }

    /// The bits for writing a number: rounded up.
    @inline(__always)
    static func roundedUp(_ exponent: Int) -> UInt128 {
        bits(exponent) &+ (exponent < leastRoundedUp || exponent > greatestExact ? 1 : 0)
    }

    /// The powers from here to zero are rounded up in the table.
    private static let leastRoundedUp = -27
    /// Five to this power has at most 128 bits, five to the next power has more.
    private static let greatestExact = 55

    /// Computed for the first number that needs it, in about a tenth of a millisecond.
    private static let table: [UInt128] = {
        var reciprocals: [UInt128] = []
        // With so many bits the least reciprocal still has 128. Truncating after each division gives the same as truncating once.
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
