// Everything that Codable offers, coded with the codec and with Foundation: same text, same value, same error.

import Foundation
import JSONCodec
import Testing

@Suite struct `Agreement with Foundation` {
    @Test func `every primitive is written as Foundation writes it`() throws {
        try agree([Int8.min, -1, 0, .max])
        try agree([Int16.min, .max])
        try agree([Int32.min, .max])
        try agree([Int64.min, -100, -10, -9, 9, 10, 99, 100, 101, 999_999, .max])
        try agree([Int.min, .max])
        try agree([Int128.min, 0, .max])
        try agree([UInt8.max])
        try agree([UInt16.max])
        try agree([UInt32.max])
        try agree([UInt64.max, 0, 10_000_000_000_000_000_000, 9_999_999_999_999_999_999])
        try agree([UInt.max])
        try agree([UInt128.max, 0])
        try agree([true, false])
        try agree([Bool?.none, true])
        try agree([
            "", "a", "/\\\"\u{0}\u{1f}\u{7f}\n\r\t\u{8}\u{c}", "äöü€😀\u{2028}\u{FEFF}", "exactly8", "123456789/",
        ])
        try agree(Int?.none)
        try agree("top level")
        try agree(17)
    }

    @Test func `integers around each power of ten are written as they are said`() throws {
        let powers = sequence(first: 1 as UInt64) { $0 > .max / 10 ? nil : $0 * 10 }
        for number in powers.flatMap({ [$0 - 1, $0, $0 + 1] }) {
            try agree([number])
            guard let signed = Int64(exactly: number) else { continue }
            try agree([signed, -signed])
        }
    }

    @Test func `floating point takes the same shortest text`() throws {
        var doubles: [Double] = [
            0, -0.0, 1, -1, 0.1, 0.2, 0.1 + 0.2, 1e15, 1e16, 1e17, 1e22, 1e23, 123_456_789_012_345_680,
            .leastNonzeroMagnitude,
            .leastNormalMagnitude, .greatestFiniteMagnitude, -.pi, 100_000.5, 0.0001, 0.00001, 9_007_199_254_740_991,
            9_007_199_254_740_992, 9_007_199_254_740_994, -9_007_199_254_740_992, 4_503_599_627_370_496.5,
        ]
        doubles += doubles.flatMap { [$0.nextUp, $0.nextDown] }.filter(\.isFinite)
        for double in doubles { try agree(double) }
        for float in [
            Float(0), -0.0, 1, 0.1, 1e7, 1e8, 16_777_216, 33_554_432, 3.4e38, .leastNonzeroMagnitude, .pi, 1e22,
        ] {
            try agree(float)
        }
    }

    @Test func `Foundation's own types take the form of its coder`() throws {
        try agree([Date(timeIntervalSinceReferenceDate: 0.1), Date(timeIntervalSince1970: 0), .distantFuture])
        for length in 0...10 { try agree(Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 91 &+ 250) })) }
        try agree([Data(repeating: 0xFF, count: 7), Data(repeating: 0xFB, count: 100)[3..<9]])
        try agree([UUID(uuidString: "F8F0B8A4-0B0A-4C0B-9B0A-0B0A4C0B9B0A")])
        for text in ["0", "-1.50", "1e30", "1e-100", "12345678901234567890.123456789", "-0.0000001", "1e127"] {
            try agree(Decimal(string: text))
        }
        try agree([Decimal.greatestFiniteMagnitude, .leastNonzeroMagnitude, Decimal(1) / 3])
        try agree(["data": Data([1, 2, 3])])
        try agree([URL(string: "http://user@host:1/a/b?c=d#e"), URL(string: "x"), URL(string: "a%20b/ü")])
        try agree(Everything.example)
    }

    @Test(arguments: [
        "g", "./g", "g/", "/g", "//g", "?y", "g?y", "#s", "g#s", "g?y#s", ";x", "g;x", "g;x?y#s", "", ".", "./", "..",
        "../", "../g", "../..", "../../", "../../g", "../../../g", "/./g", "/../g", "g.", ".g", "g..", "..g", "./../g",
        "./g/.", "g/./h", "g/../h", "g;x=1/./y", "g;x=1/../y", "g?y/./x", "g#s/../x", "http:g",
    ])
    func `a relative URL is written as its absolute one`(_ reference: String) throws {
        for base in ["http://a/b/c/d;p?q", "http://host", "file:///x/y"] {
            guard let url = URL(string: reference, relativeTo: URL(string: base)) else { continue }
            #expect(try ours(url) == foundations(url), "\(reference) in \(base)")
        }
    }

    @Test func `dictionaries are objects for string and integer keys and arrays for others`() throws {
        try agree(["a": 1, "b/\"": 2, "": 3])
        try agree(["a": Int?.none, "b": 1])
        try agree([1: "a", -5: "b"])
        try agree([UInt8(1): ["x": [1.5]]])
        try agree([1.5: "x"])
        try agree([Plain.one: 1])
        try agree([RepresentableKey(name: "k"): 1])
        try agree(["nested": ["a": [1, 2], "b": []]])
        try agree(Set([1]))
    }

    @Test func `enums, classes, supers and nested containers come out alike`() throws {
        try agree([Choice.none, .one(1), .two(name: "x", nil), .two(name: "y", 2), .recursive(.one(3))])
        try agree(Derived(base: 1, own: "x"))
        try agree(DerivedWithSuper(base: 1, own: "x"))
        try agree(SharedContainer(base: 4, own: 2))
        try agree(ByHand.example)
        try agree([Optional(Optional(1)), nil])
        try agree(Wrapper(value: [Wrapper(value: 1)]))
        try agree(1...3)
    }

    @Test func `a value that encodes nothing is an empty object inside and an error outside`() throws {
        #expect(try ours([Silent()]) == "[{}]")
        #expect(try ours(["a": Silent()]) == #"{"a":{}}"#)
        #expect(Outcome { try ours(Silent()) }.failure == Outcome { try foundations(Silent()) }.failure)
    }

    @Test func `what is written late stands where it belongs`() throws {
        let text = try ours(OutOfOrder())
        #expect(try sorted(text) == sorted(foundations(OutOfOrder())), "\(text)")
    }

    private func agree<Value: Codable & Equatable>(
        _ value: Value, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let text = try ours(value)
        let other = try foundations(value)
        if text != other { #expect(try sorted(text) == sorted(other), sourceLocation: sourceLocation) }
        #expect(try ours(Value.self, other) == foundations(Value.self, other), sourceLocation: sourceLocation)
    }
}
