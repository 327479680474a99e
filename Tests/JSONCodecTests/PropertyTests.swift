// Random values and random texts from a seed, coded with the codec and with Foundation.

import Foundation
import JSONCodec
import TestSupport
import Testing

@Suite(.computesForLong) struct `JSON properties` {
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `a random value takes the same text, and comes back, with either coder`(_ seed: UInt64) throws {
        var random = Random(seed: seed)
        for _ in 0..<15 {
            let value = RandomValue(&random, depth: 4)
            let text = try ours(value)
            let other = try foundations(value)
            #expect(try sorted(text) == sorted(other))
            #expect(try ours(RandomValue.self, other) == foundations(RandomValue.self, other))
            #expect(try foundations(RandomValue.self, text) == ours(RandomValue.self, text))
        }
    }

    @Test func `a random number comes back as itself`() throws {
        var random = Random(seed: 7)
        for _ in 0..<1500 {
            let double = Double(bitPattern: random.next())
            if double.isFinite {
                let text = try ours(double)
                #expect(try ours(Double.self, text).bitPattern == double.bitPattern, "\(text)")
                #expect(try text == foundations(double))
            }
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            if float.isFinite { #expect(try ours(Float.self, ours(float)).bitPattern == float.bitPattern) }
            let integer = Int64(truncatingIfNeeded: random.next() >> (random.next() % 64))
            #expect(try ours(integer) == integer.description)
            #expect(try ours(Int64.self, ours(integer)) == integer)
            let digits = random.next() % 10_000_000_000_000_000
            let decimal = "\(digits / 100_000_000).\(digits % 100_000_000)e\(Int(random.next() % 40) - 20)"
            #expect(try ours(Double.self, decimal) == Double(decimal))
        }
    }

    @Test func `a number of few places takes the shortest text`() throws {
        var random = Random(seed: 3)
        for count in 0..<2000 {
            let digits = Double(random.next() >> (12 + random.next() % 48))
            let value = digits / pow(10, Double(count % 8)) * (count % 3 == 0 ? -1 : 1)
            for near in [value, value.nextUp, value.nextDown] { #expect(try ours(near) == foundations(near)) }
        }
    }

    @Test func `a damaged text is taken or refused as Foundation does`() throws {
        var random = Random(seed: 11)
        let alphabet = Array(#"{}[]",:\u09aefltrns-+.1 "#.utf8) + [0x0A, 0x01, 0x80, 0xC3, 0xED, 0xFF]
        for _ in 0..<60 {
            let text = Array(try ours(RandomValue(&random, depth: 3)).utf8)
            for _ in 0..<20 where !text.isEmpty {
                var damaged = text
                let place = Int(random.next() % UInt64(text.count))
                switch random.next() % 3 {
                case 0: damaged.remove(at: place)
                case 1: damaged[place] = alphabet[Int(random.next() % UInt64(alphabet.count))]
                default: damaged.insert(alphabet[Int(random.next() % UInt64(alphabet.count))], at: place)
                }
                let mine = damaged.withUnsafeBytes { bytes in
                    var reader = JSONReader(bytes)
                    return (try? reader.skipValue()) != nil && (try? reader.finish()) != nil
                }
                let theirs = (try? JSONDecoder().decode(Whatever.self, from: Data(damaged))) != nil
                // Foundation skips a byte order mark and looks into strings and numbers only when they are decoded.
                if mine != theirs { #expect(!mine, "\(String(decoding: damaged, as: UTF8.self))") }
            }
        }
    }

    private struct Whatever: Decodable {
        init(from decoder: any Decoder) throws {}
    }
}

/// SplitMix64.
struct Random: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

indirect enum RandomValue: Codable, Equatable {
    case nothing
    case integer(Int, UInt8?)
    case wide(low: Int128, high: UInt64)
    case double(Double)
    case text(String)
    case list([RandomValue?])
    case map([String: RandomValue])
    case numbered([Int: RandomValue])
    case paired([Plain: [Float]])
    case special(Date, Data, UUID?, Decimal)
    case link(URL)

    init(_ random: inout Random, depth: Int) {
        let count = Int(random.next() % 5)
        switch random.next() % (depth > 0 ? 11 : 7) {
        case 0: self = .nothing
        case 1: self = .integer(Int(truncatingIfNeeded: random.next()), Bool.random(using: &random) ? nil : 7)
        case 2: self = .wide(low: Int128(truncatingIfNeeded: random.next()) * -1_000_000_007, high: random.next())
        case 3: self = .double(Double(Int(random.next() % 100_000)) / pow(10, Double(random.next() % 30)))
        case 4: self = .text(Self.text(&random))
        case 5:
            self = .special(
                Date(timeIntervalSinceReferenceDate: Double(random.next() % 1_000_000_000_000) / 1000),
                Data((0..<count * 3).map { _ in UInt8.random(in: 0...255, using: &random) }), nil,
                Decimal(Int64(bitPattern: random.next())) / Decimal(random.next() % 1000 + 1))
        case 6: self = URL(string: "http://h/\(random.next())?\(random.next() % 9)").map { .link($0) } ?? .nothing
        case 7: self = .list((0..<count).map { $0 == 3 ? nil : RandomValue(&random, depth: depth - 1) })
        case 8:
            var map: [String: RandomValue] = [:]
            for _ in 0..<count * count { map[Self.text(&random)] = RandomValue(&random, depth: depth - 3) }
            self = .map(map)
        case 9:
            var map: [Int: RandomValue] = [:]
            for _ in 0..<count { map[Int(truncatingIfNeeded: random.next())] = RandomValue(&random, depth: depth - 1) }
            self = .numbered(map)
        default: self = .paired([.one: [Float(random.next() % 1000) / 8, .pi]])
        }
    }

    private static func text(_ random: inout Random) -> String {
        let pieces = [
            "a", "/", "\"", "\\", "\n", "\u{1}", "é", "漢", "\u{1F468}\u{200D}\u{1F469}", " ", "\u{7F}", "longer piece",
            "0",
        ]
        return (0..<random.next() % 12).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }.joined()
    }
}
