// Finds the fewest decimal digits that read back as a given floating-point value, by the Schubfach algorithm.

/// Decimal digits, and the power of ten by which to multiply them. The digits may end with zeros.
struct ShortestDigits {
    let digits: UInt64
    let exponent: Int

    /// Finds the digits of the positive value `mantissa` × 2^`power`, whose mantissa includes its hidden bit.
    ///
    /// - Parameter isLowerCloser: whether the next lower value is only half as far away as the next higher one.
    init(_ mantissa: UInt64, power: Int, isLowerCloser: Bool) {
        // The interval of numbers that round to the value, in quarters of its last bit. Its ends count if the mantissa is even.
        let isOdd = mantissa & 1
        // The greatest power of ten that is not wider than the interval.
        let exponent = (power &* 1_262_611 &- (isLowerCloser ? 524_031 : 0)) &>> 22
        let scale = PowersOfTen.roundedUp(0 &- exponent)
        // How far the scale's binary point is off.
        let shift = UInt64(power &+ (0 &- exponent &* 1_741_647) &>> 19 &+ 1)
        let lower = Self.product(scale, (4 &* mantissa &- (isLowerCloser ? 1 : 2)) &<< shift) &+ isOdd
        let value = Self.product(scale, (4 &* mantissa) &<< shift)
        let upper = Self.product(scale, (4 &* mantissa &+ 2) &<< shift) &- isOdd

        let short = value / 4
        // One digit less is enough if exactly one such number is in the interval.
        let shorter = short / 10
        if short >= 10 {
            let (isBelow, isAbove) = (lower <= 40 &* shorter, 40 &* shorter &+ 40 <= upper)
            if isBelow != isAbove {
                (digits, self.exponent) = (shorter &+ (isAbove ? 1 : 0), exponent &+ 1)
                return
            }
        }
        let (isBelow, isAbove) = (lower <= 4 &* short, 4 &* short &+ 4 <= upper)
        let middle = 4 &* short &+ 2
        // If both neighbours are in the interval, takes the nearer one. If both are equally near, takes the even one.
        let roundsUp = isBelow != isAbove ? isAbove : value > middle || value == middle && short & 1 == 1
        (digits, self.exponent) = (short &+ (roundsUp ? 1 : 0), exponent)
    }

    /// The upper 64 bits of a product of 192 bits. The lowest bit is set if anything but zeros was cut off.
    @inline(__always)
    private static func product(_ scale: UInt128, _ factor: UInt64) -> UInt64 {
        let below = UInt64(truncatingIfNeeded: scale).multipliedFullWidth(by: factor).high
        let (high, low) = UInt64(truncatingIfNeeded: scale &>> 64).multipliedFullWidth(by: factor)
        let (sum, overflow) = low.addingReportingOverflow(below)
        return (high &+ (overflow ? 1 : 0)) | (sum > 1 ? 1 : 0)
    }
}
