// Digits that are looked at eight at a time are the digits that one would find one by one.

import JSONCodec
import TestSupport
import Testing

@Suite struct `Eight bytes at once` {
    /// Digits, what stands beside them in ASCII, and the same with the high bit set.
    private static let bytes = Array("0123456789/:.-e}".utf8) + [0x00, 0xAF, 0xB0, 0xB9, 0xBA, 0xFF]

    private static func eight(_ bytes: [UInt8]) throws -> EightBytes {
        try bytes.withUnsafeBytes { EightBytes(try #require($0.baseAddress), at: 0) }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `the digits before anything else are counted and make their number`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let length = Int.random(in: 0...8, using: &random)
            var text = (0..<8).map { _ in Self.bytes.randomElement(using: &random) ?? 0 }
            for index in 0..<length { text[index] = UInt8.random(in: 0x30...0x39, using: &random) }
            let digits = text.prefix { (0x30...0x39).contains($0) }
            let eight = try Self.eight(text)
            guard eight.digitCount == digits.count else {
                Issue.record("\(eight.digitCount) digits in \(text)")
                continue
            }
            guard !digits.isEmpty else { continue }
            let number = digits.reduce(0 as UInt64) { $0 * 10 + UInt64($1 - 0x30) }
            if eight.number(ofDigits: digits.count) != number { Issue.record("not \(number) in \(text)") }
        }
    }

    @Test func `a number is written with zeros before it, and these are counted`() {
        var random = SeededGenerator(seed: 1)
        let powers = sequence(first: 1 as UInt64) { $0 * 10 }.prefix { $0 < EightBytes.numbers }
        let edges = powers.flatMap { [$0 - 1, $0] } + [EightBytes.numbers - 1]
        for number in edges + (0..<20_000).map({ _ in UInt64.random(in: 0..<EightBytes.numbers, using: &random) }) {
            let eight = EightBytes(number: number)
            let zeros = 8 - "\(number)".count
            let text = String(repeating: "0", count: zeros) + "\(number)"
            let written = withUnsafeBytes(of: eight.word.littleEndian) { String(decoding: $0, as: UTF8.self) }
            if written != text || eight.leadingZeros != zeros { Issue.record("\(number) became \(written)") }
        }
    }

    @Test(arguments: 8...12) func `behind the end of a text there are zeros`(count: Int) throws {
        let text = Array("0123456789ab".utf8.prefix(count))
        for offset in 0...count {
            let rest = Array(text[offset...].prefix(8))
            let eight = try text.withUnsafeBytes { EightBytes(try #require($0.baseAddress), at: offset, of: count) }
            #expect(try eight.word == Self.eight(rest + Array(repeating: 0, count: 8 - rest.count)).word)
        }
    }
}
