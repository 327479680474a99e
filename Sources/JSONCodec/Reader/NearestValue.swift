// Finds the floating-point value nearest to a decimal number, by the algorithm of Eisel and Lemire.

/// A floating-point type whose values can be made from bits here.
protocol DecimalReadable: BinaryFloatingPoint {
    static var format: BinaryFormat { get }
    init(bits: UInt64)
}

/// How the bits of a floating-point type are laid out.
struct BinaryFormat {
    let mantissaBits: Int
    let bias: Int
    /// The powers of ten at which a number can be exactly between two values.
    let ties: ClosedRange<Int>

    /// The exponent field of infinity.
    var infiniteExponent: Int { 2 &* bias &+ 1 }
    var infinity: UInt64 { UInt64(infiniteExponent) &<< UInt64(mantissaBits) }
}

extension Double: DecimalReadable {
    static var format: BinaryFormat { BinaryFormat(mantissaBits: 52, bias: 1023, ties: -4...23) }
    init(bits: UInt64) { self.init(bitPattern: bits) }
}

extension Float: DecimalReadable {
    static var format: BinaryFormat { BinaryFormat(mantissaBits: 23, bias: 127, ties: -17...10) }
    init(bits: UInt64) { self.init(bitPattern: UInt32(truncatingIfNeeded: bits)) }
}

extension BinaryFormat {
    /// The bits of the value nearest to `significand` × 10^`exponent`. Of two equally near values it is the even one.
    @inline(__always)
    func nearest(_ significand: UInt64, _ exponent: Int) -> UInt64 {
        // Below the range every number is nearer to zero than to the least value.
        if significand == 0 || exponent < PowersOfTen.range.lowerBound { return 0 }
        if exponent > 308 { return infinity }
        let leadingZeros = significand.leadingZeroBitCount
        let product = Self.product(significand &<< UInt64(leadingZeros), PowersOfTen.bits(exponent), mantissaBits &+ 3)
        let (high, low) = (UInt64(truncatingIfNeeded: product &>> 64), UInt64(truncatingIfNeeded: product))
        let upperBit = Int(high &>> 63)
        // One bit more than the mantissa and its hidden bit, for rounding.
        let shift = UInt64(upperBit &+ 61 &- mantissaBits)
        var mantissa = high &>> shift
        // The first term is the binary logarithm of the power of ten.
        var power = (217_706 &* exponent) &>> 16 &+ 63 &+ upperBit &- leadingZeros &+ bias
        if power <= 0 { return subnormal(mantissa, 1 &- power) }
        if low <= 1, ties.contains(exponent), mantissa & 3 == 1, mantissa &<< shift == high {
            // The number is exactly between two values, and the lower one is even.
            mantissa &= ~1
        }
        mantissa = (mantissa &+ (mantissa & 1)) &>> 1
        if mantissa >= 2 &<< UInt64(mantissaBits) {
            mantissa = 1 &<< UInt64(mantissaBits)
            power &+= 1
        }
        guard power < infiniteExponent else { return infinity }
        return mantissa & ~(1 &<< UInt64(mantissaBits)) | UInt64(power) &<< UInt64(mantissaBits)
    }

    /// A value below the normal ones. If rounding fills the hidden bit, that bit is the exponent of the least normal value.
    private func subnormal(_ mantissa: UInt64, _ distance: Int) -> UInt64 {
        guard distance < 64 else { return 0 }
        let shifted = mantissa &>> UInt64(distance)
        return (shifted &+ (shifted & 1)) &>> 1
    }

    /// The upper 128 bits of a product of 64 and 128 bits. The first `precision` of them are exact.
    @inline(__always)
    private static func product(_ factor: UInt64, _ power: UInt128, _ precision: Int) -> UInt128 {
        let first = factor.multipliedFullWidth(by: UInt64(truncatingIfNeeded: power &>> 64))
        let product = UInt128(first.high) &<< 64 | UInt128(first.low)
        // The power's lower half can only carry into the precise bits when all bits below those are set.
        let below = UInt64.max &>> UInt64(precision)
        guard first.high & below == below else { return product }
        return product &+ UInt128(factor.multipliedFullWidth(by: UInt64(truncatingIfNeeded: power)).high)
    }
}

extension JSONNumber {
    /// The nearest value of a type. Nil for a number that is too great, and for one that is not zero but rounds to zero.
    @inline(__always)
    func floatingPoint<Value: DecimalReadable>(as type: Value.Type, in base: UnsafePointer<UInt8>) -> Value? {
        // Few digits and a small power are exact. Their product or quotient is then rounded only once, and correctly.
        if Value.self == Double.self, !isLong, significand <= 1 &<< 53, exponent >= -22, exponent <= 22 {
            let digits = Double(Int64(bitPattern: significand))
            let value = exponent < 0 ? digits / exactPowers[0 &- exponent] : digits * exactPowers[exponent]
            return Value(isNegative ? -value : value)
        }
        return roundedValue(in: base)
    }

    @inline(never)
    private func roundedValue<Value: DecimalReadable>(in base: UnsafePointer<UInt8>) -> Value? {
        let format = Value.format
        var isZero = significand == 0
        var bits = format.nearest(significand, exponent)
        if isLong {
            let decimal = decimal(as: UInt64.self, in: base)
            isZero = decimal.significand == 0
            bits = format.nearest(decimal.significand, decimal.exponent)
            if !decimal.isExact, format.nearest(decimal.significand &+ 1, decimal.exponent) != bits,
                isAbove(bits, format, in: base)
            {
                bits &+= 1
            }
        }
        guard bits != format.infinity, bits != 0 || isZero else { return nil }
        let value = Value(bits: bits)
        return isNegative ? -value : value
    }

    /// Whether a number between a value and the next one rounds to the next one. Uses all digits. Needed only for a few numbers
    /// of more than nineteen digits, for which the first digits do not decide.
    private func isAbove(_ bits: UInt64, _ format: BinaryFormat, in base: UnsafePointer<UInt8>) -> Bool {
        var number: BigNatural
        let exponent: Int
        (number, exponent) = bigDecimal(in: base)
        let field = Int(bits &>> UInt64(format.mantissaBits))
        let fraction = bits & (1 &<< UInt64(format.mantissaBits) &- 1)
        let mantissa = field == 0 ? fraction : fraction | 1 &<< UInt64(format.mantissaBits)
        // The middle between the two values, to be multiplied by two to this power.
        var middle = BigNatural(2 &* mantissa &+ 1)
        let power = max(field, 1) &- format.bias &- format.mantissaBits &- 1
        if exponent < 0 {
            middle.multiply(byPowerOfTen: 0 &- exponent)
        } else {
            number.multiply(byPowerOfTen: exponent)
        }
        if power < 0 { number.multiply(byPowerOfTwo: 0 &- power) } else { middle.multiply(byPowerOfTwo: power) }
        return middle < number || middle == number && mantissa & 1 == 1
    }
}

/// All powers of ten that a `Double` holds exactly.
private let exactPowers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
]
