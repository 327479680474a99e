// Protocols with their tokens deleted, doubled, swapped and replaced: the plugin must always come back with an answer.

import TestSupport
import Testing

@testable import RemoteProxyMacros

@Suite(.computesForLong) struct TokenSoupTests {
    static let seeds = [
        """
        /// Doc.
        @available(*, deprecated, message: "a \\(b) c") @MainActor public protocol P: AnyObject, Sendable & Q {
            func a(_ a: Int, b c: [String: Int?]?) async throws(any Error) -> Result<A.B, C>
            var d: (Int) { get async throws }
            typealias T = [Int]; func `e f`(@escaping () -> Void)
            #if X
            func g<T>(_ t: inout T...) where T: Sendable
            #endif
            subscript(i: Int) -> any P { get set }
            init?(a: some P = { 1 }()); static func + (a: Self, b: ~Copyable) -> [3 of Int]
            associatedtype I: P = Int
        }
        """
    ]

    static let spices = [
        "{", "}", "(", ")", "[", "]", "<", ">", "@", "#", "\"", "\"\"\"", "`", "/*", "*/", "//", "\\(", "->", "...",
        ",",
        ":", ";", "&", "?", "!", ".", "~", "=", "func", "var", "protocol", "async", "throws", "where", "any", "some",
        "inout", "get", "set", "init", "#if", "#endif", "@available(", "_", "é", "\u{0}", "\n", "typealias", "repeat",
    ]

    @Test(arguments: 0..<8)
    func `mutated protocols are always answered, and a refusal always has a place inside the source`(part: Int) {
        var random = SeededGenerator(seed: UInt64(part))
        for _ in 0..<150 {
            let source = Self.mutated(&random)
            let expanding = Expanding(source, attribute: source)
            for diagnostic in expanding.expansion.diagnostics {
                let offset = diagnostic.position.offset - Expanding.offset
                #expect((0...source.utf8.count).contains(offset), "\(source)")
            }
            #expect(
                !expanding.expansion.expandedSource.isEmpty || !expanding.expansion.diagnostics.isEmpty, "\(source)")
        }
    }

    @Test(arguments: 0..<4)
    func `what is written for a mutated protocol has balanced brackets`(part: Int) {
        var random = SeededGenerator(seed: UInt64(100 + part))
        for _ in 0..<100 {
            let expanding = Expanding(Self.mutated(&random, changes: 2))
            guard expanding.expansion.diagnostics.isEmpty else { continue }
            let source = expanding.expansion.expandedSource
            let tokens = SwiftLexer.tokens(of: Array(source.utf8)).map(\.text)
            for (open, close) in [("{", "}"), ("(", ")"), ("[", "]")] {
                #expect(tokens.count { $0 == open } == tokens.count { $0 == close }, "\(source)")
            }
        }
    }

    @Test func `a source cut anywhere is answered`() {
        let bytes = Array(Self.seeds[0].utf8)
        for length in stride(from: 0, through: bytes.count, by: 3) {
            let expanding = Expanding(String(decoding: bytes[..<length], as: UTF8.self))
            #expect(!expanding.expansion.diagnostics.isEmpty)
        }
    }

    @Test(arguments: ["(", "[", "<", "{", "\"\\(", "/*", "@a(", "#", "`", "&", "any ", "(a: ", "#if ", "-> ", "A<"])
    func `the same token ten thousand times takes no longer than it should`(token: String) {
        let soup = String(repeating: token, count: 10_000)
        _ = Expanding(soup)
        _ = Expanding("protocol P: Sendable { \(soup)")
        _ = Expanding("protocol P: Sendable { func f(_ a: \(soup)")
    }

    private static func mutated(_ random: inout SeededGenerator, changes: Int = 12) -> String {
        var tokens = SwiftLexer.tokens(of: Array(seeds[0].utf8)).map(\.text)
        for _ in 0..<Int.random(in: 1...changes, using: &random) {
            let place = Int.random(in: 0..<tokens.count, using: &random)
            switch Int.random(in: 0..<5, using: &random) {
            case 0 where tokens.count > 1: tokens.remove(at: place)
            case 1: tokens.insert(tokens[place], at: place)
            case 2: tokens.swapAt(place, Int.random(in: 0..<tokens.count, using: &random))
            case 3: tokens[place] = spices.randomElement(using: &random) ?? ""
            default: tokens.insert(spices.randomElement(using: &random) ?? "", at: place)
            }
        }
        return tokens.joined(separator: " ")
    }
}

/// The same numbers for the same seed, on every machine.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state &* 0x2545_F491_4F6C_DD1D
    }
}
