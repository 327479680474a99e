// Numbers beside the standard library's: every text is read as the nearest value, and every value takes the shortest text.

import JSONCodec
import TestSupport
import Testing

@Suite(.computesForLong) struct `JSON numbers` {
    /// How the standard library writes a value, with `1` for `1.0`.
    private static func text(_ value: some BinaryFloatingPoint & CustomStringConvertible) -> String {
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func check(_ value: Double) throws {
        let text = try ours(value)
        let again = try ours(Double.self, text)
        if text != Self.text(value) { Issue.record("\(value) is written as \(text)") }
        if again.bitPattern != value.bitPattern { Issue.record("\(text) is read as \(again)") }
    }

    private static func check(_ value: Float) throws {
        let text = try ours(value)
        let again = try ours(Float.self, text)
        if text != Self.text(value) { Issue.record("\(value) is written as \(text)") }
        if again.bitPattern != value.bitPattern { Issue.record("\(text) is read as \(again)") }
    }

    /// A text is read as the standard library reads it. What it takes for infinite, or for zero though it is not, is refused.
    private static func check(_ text: String, isZero: Bool = false) {
        let (double, float) = (try? ours(Double.self, text), try? ours(Float.self, text))
        let doubles = Double(text).flatMap { $0.isFinite && ($0 != 0 || isZero) ? $0 : nil }
        let floats = Float(text).flatMap { $0.isFinite && ($0 != 0 || isZero) ? $0 : nil }
        if double?.bitPattern != doubles?.bitPattern { Issue.record("\(text) is read as \(double as Any)") }
        if float?.bitPattern != floats?.bitPattern { Issue.record("\(text) is read as \(float as Any), a Float") }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `a value of random bits takes the shortest text and comes back`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<10_000 {
            let bits = random.next()
            if Double(bitPattern: bits).isFinite { try Self.check(Double(bitPattern: bits)) }
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
            if float.isFinite { try Self.check(float) }
            // Near one, where most numbers of programs are.
            try Self.check(Double(Int64(bitPattern: bits)) / Double(1 &<< (random.next() % 64) as UInt64))
            try Self.check(Double(bits % 1_000_000) / 1000)
        }
    }

    @Test func `powers of two and their neighbours take the shortest text and come back`() throws {
        for exponent in -1074...1023 {
            let value = Double(sign: .plus, exponent: exponent, significand: 1)
            for near in [value, value.nextUp, value.nextDown, -value] { try Self.check(near) }
        }
        for exponent in -149...127 {
            let value = Float(sign: .minus, exponent: exponent, significand: 1)
            for near in [value, value.nextUp, value.nextDown] { try Self.check(near) }
        }
    }

    @Test func `limits, subnormals and the borders between the forms of a number come back`() throws {
        let doubles = [
            0, Double.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude, .pi, .ulpOfOne, 1e-4,
            1e-5,
            0x1p53, 0x1p54, 1e15, 1e16, 1e17, 1e21, 1e22, 1e23, 0.001, 0.0001, 0.00001,
        ]
        for value in doubles {
            for near in [value, -value, value.nextUp, value.nextDown] where near.isFinite { try Self.check(near) }
        }
        let floats = [
            0, Float.greatestFiniteMagnitude, .leastNormalMagnitude, .leastNonzeroMagnitude, .pi, 0x1p24, 0x1p23, 1e-4,
            1e-5,
            1e10, 1e7, 1e8,
        ]
        for value in floats {
            for near in [value, -value, value.nextUp, value.nextDown] where near.isFinite { try Self.check(near) }
        }
    }

    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func `digits and an exponent are read as the nearest value`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<10_000 {
            let digits = random.next() >> (random.next() % 64)
            let exponent = Int(random.next() % 700) - 360
            Self.check("\(digits)e\(exponent)", isZero: digits == 0)
            Self.check("0.\(digits)e\(exponent % 30)", isZero: digits == 0)
        }
    }

    /// All digits of a number, which the standard library's own description does not give.
    private static func decimal(_ significand: UInt64, timesTwoTo exponent: Int) -> String {
        var digits = String(significand).reversed().map { Int($0.wholeNumberValue ?? 0) }
        for _ in 0..<exponent.magnitude {
            var carry = 0
            // With a negative exponent a number is halved by multiplying with five and moving the point.
            for index in digits.indices {
                let product = digits[index] * (exponent < 0 ? 5 : 2) + carry
                (digits[index], carry) = (product % 10, product / 10)
            }
            if carry > 0 { digits.append(carry) }
        }
        return digits.reversed().map(String.init).joined() + (exponent < 0 ? "e\(exponent)" : "")
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>)
    func `what lies midway between two values, or a little beside it, is rounded as by the standard library`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<150 {
            // One bit more than a Double has, so that the number is the middle of two.
            let double = random.next() >> 11 | 1 << 53 | 1
            let middle = Self.decimal(double, timesTwoTo: Int(random.next() % 900) - 450)
            let float = UInt64(random.next() >> 40) | 1 << 24 | 1
            let floats = Self.decimal(float, timesTwoTo: Int(random.next() % 200) - 120)
            for text in [middle, floats] {
                Self.check(text)
                let parts = text.split(separator: "e")
                let exponent = parts.count > 1 ? "e\(parts[1])" : ""
                // Above the middle by the least that can be written, and below it.
                Self.check(parts[0] + ".00000000000000000000000000000000001" + exponent)
                let below = String(parts[0].dropLast()) + String((parts[0].last?.wholeNumberValue ?? 1) - 1)
                if parts[0].last != "0" { Self.check(below + ".99999999999999999999999999" + exponent) }
            }
        }
    }

    @Test func `many digits and leading zeros are read as the nearest value`() {
        for count in [17, 18, 19, 20, 21, 40, 300, 800] {
            for digit in ["1", "9", "5"] {
                let digits = String(repeating: digit, count: count)
                Self.check(digits)
                Self.check("0." + digits)
                Self.check("0." + String(repeating: "0", count: min(count, 200)) + digits)
                Self.check("\(digits)e-\(count)")
                Self.check("\(digits)e-\(count + 320)")
            }
        }
        Self.check("0.000000000000000000000000000000e400", isZero: true)
        Self.check("1" + String(repeating: "0", count: 400) + "e-400")
        Self.check("2.4703282292062327208299439634110864618253e-324")
        Self.check("2.4703282292062328e-324")
        Self.check("1.7976931348623158079372897140530341507993e308")
        Self.check("1.7976931348623158e308")
    }

    @Test(
        arguments: [
            ("18446744073709551615", UInt64.max), ("18446744073709551616", nil), ("1844674407370955161500e-2", .max),
            ("100000000000000000000000000000e-28", 10), ("1.50", nil), ("10.0e0", 10),
            ("0.0000000000000000000000000", 0),
            ("12345678901234567890.5", nil), ("1e19", 10_000_000_000_000_000_000), ("1e20", nil), ("-0", 0),
            ("-1", nil),
            ("0e1000000000000000000000", 0), ("1e-1000000000000000000000", nil),
        ] as [(String, UInt64?)])
    func `a long integer is exact or refused`(_ text: String, _ expected: UInt64?) {
        #expect((try? ours(UInt64.self, text)) == expected)
    }
}
