// Types that use every part of Codable, for tests that code them twice.

import Foundation

struct Everything: Codable, Equatable, Sendable {
    var text: String
    var optional: Int?
    var absent: String?
    var date: Date
    var data: Data
    var url: URL
    var id: UUID
    var price: Decimal
    var list: [Plain]
    var map: [String: [Int]]
    var numbers: [Double]
    var choice: Choice

    static let example = Everything(
        text: "a/b\u{1F600}", optional: 3, absent: nil, date: Date(timeIntervalSinceReferenceDate: 1.25),
        data: Data([0, 1, 254, 255]), url: URL(filePath: "/tmp/x y"),
        id: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6)),
        price: Decimal(1999) / 100, list: [.one, .two], map: ["a": [1], "b": []], numbers: [1, 0.5, -3e40],
        choice: .two(name: "n", 4))
}

enum Plain: String, Codable { case one, two }

indirect enum Choice: Codable, Equatable, Sendable {
    case none
    case one(Int)
    case two(name: String, Int?)
    case recursive(Choice)
}

struct RepresentableKey: Codable, Hashable, CodingKeyRepresentable {
    var name: String
    init(name: String) { self.name = name }
    var codingKey: any CodingKey { AnyKey(stringValue: name) }
    init?(codingKey: some CodingKey) { name = codingKey.stringValue }
}

struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

class Base: Codable, Equatable {
    var base: Int
    init(base: Int) { self.base = base }
    static func == (left: Base, right: Base) -> Bool { left.base == right.base }
}

class Derived: Base {
    var own: String
    init(base: Int, own: String) {
        self.own = own
        super.init(base: base)
    }
    private enum CodingKeys: CodingKey { case own }
    required init(from decoder: any Decoder) throws {
        own = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .own)
        try super.init(from: decoder)
    }
    override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(own, forKey: .own)
    }
}

class DerivedWithSuper: Base {
    var own: String
    init(base: Int, own: String) {
        self.own = own
        super.init(base: base)
    }
    private enum CodingKeys: CodingKey { case own }
    required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        own = try container.decode(String.self, forKey: .own)
        try super.init(from: container.superDecoder())
    }
    override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try super.encode(to: container.superEncoder())
        try container.encode(own, forKey: .own)
    }
}

/// Two containers of one encoder, used in turn, write to one object.
struct SharedContainer: Codable, Equatable {
    var base: Int
    var own: Int
    private enum First: CodingKey { case base }
    private enum Second: CodingKey { case own }
    init(base: Int, own: Int) {
        self.base = base
        self.own = own
    }
    init(from decoder: any Decoder) throws {
        let second = try decoder.container(keyedBy: Second.self)
        let first = try decoder.container(keyedBy: First.self)
        own = try second.decode(Int.self, forKey: .own)
        base = try first.decode(Int.self, forKey: .base)
    }
    func encode(to encoder: any Encoder) throws {
        var first = encoder.container(keyedBy: First.self)
        var second = encoder.container(keyedBy: Second.self)
        try second.encode(own, forKey: .own)
        try first.encode(base, forKey: .base)
    }
}

/// Nested keyed and unkeyed containers, super encoders with and without a key, nil by hand.
struct ByHand: Codable, Equatable {
    var numbers: [[Int]]
    var pairs: [String]
    var base: Plain
    var isNil: Bool

    static let example = ByHand(numbers: [[1, 2], [], [3]], pairs: ["x", "y"], base: .two, isNil: true)

    private enum Keys: CodingKey { case numbers, pairs, parent, nothing, deep }

    init(numbers: [[Int]], pairs: [String], base: Plain, isNil: Bool) {
        self.numbers = numbers
        self.pairs = pairs
        self.base = base
        self.isNil = isNil
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var outer = container.nestedUnkeyedContainer(forKey: .numbers)
        for list in numbers {
            var inner = outer.nestedUnkeyedContainer()
            try inner.encode(contentsOf: list)
        }
        var list = container.nestedUnkeyedContainer(forKey: .pairs)
        for pair in pairs {
            var member = list.nestedContainer(keyedBy: AnyKey.self)
            try member.encode(pair, forKey: AnyKey(stringValue: "value"))
        }
        try list.encodeNil()
        try base.encode(to: list.superEncoder())
        try base.encode(to: container.superEncoder(forKey: .parent))
        if isNil { try container.encodeNil(forKey: .nothing) }
        var deep = container.nestedContainer(keyedBy: AnyKey.self, forKey: .deep)
        try base.encode(to: deep.superEncoder())
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Keys.self)
        let deep = try container.nestedContainer(keyedBy: AnyKey.self, forKey: .deep)
        isNil = try container.decodeNil(forKey: .nothing)
        base = try Plain(from: deep.superDecoder())
        numbers = []
        var outer = try container.nestedUnkeyedContainer(forKey: .numbers)
        while !outer.isAtEnd {
            var inner = try outer.nestedUnkeyedContainer()
            var list: [Int] = []
            while !inner.isAtEnd { list.append(try inner.decode(Int.self)) }
            numbers.append(list)
        }
        pairs = []
        var list = try container.nestedUnkeyedContainer(forKey: .pairs)
        while try !list.decodeNil() {
            let member = try list.nestedContainer(keyedBy: AnyKey.self)
            pairs.append(try member.decode(String.self, forKey: AnyKey(stringValue: "value")))
        }
        let last = try Plain(from: list.superDecoder())
        guard last == base, list.isAtEnd, list.count == list.currentIndex else {
            throw DecodingError.dataCorruptedError(in: list, debugDescription: "Not what was written.")
        }
    }
}

struct Wrapper<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value
    init(value: Value) { self.value = value }
    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Value.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

struct Silent: Encodable {
    func encode(to encoder: any Encoder) throws {}
}

/// Goes back to containers after their surroundings went on, and writes a member twice.
struct OutOfOrder: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: AnyKey(stringValue: "twice"))
        var nested = container.nestedContainer(keyedBy: AnyKey.self, forKey: AnyKey(stringValue: "nested"))
        try nested.encode("early", forKey: AnyKey(stringValue: "a"))
        var list = container.nestedUnkeyedContainer(forKey: AnyKey(stringValue: "list"))
        let later = container.superEncoder()
        let never = container.superEncoder(forKey: AnyKey(stringValue: "never"))
        try container.encode(2, forKey: AnyKey(stringValue: "twice"))
        try nested.encode("late", forKey: AnyKey(stringValue: "b"))
        try list.encode(1)
        var inner = list.nestedUnkeyedContainer()
        try list.encode(2)
        try inner.encode("inner")
        try inner.encode("more")
        try ["late": true].encode(to: later)
        try nested.encode("last", forKey: AnyKey(stringValue: "c"))
        try? container.encode(Double.nan, forKey: AnyKey(stringValue: "nan"))
        try? container.encode(["x": Double.nan], forKey: AnyKey(stringValue: "twice"))
        _ = never
    }
}
