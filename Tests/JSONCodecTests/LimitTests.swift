// What hostile texts and endless values cost: bounded depth on both ways, and work in proportion to the size.

import Foundation
import JSONCodec
import TestSupport
import Testing

@Suite(.computesForLong) struct `JSON limits` {
    @Test func `values nested deeper than the limit refuse to encode`() throws {
        func nested(_ depth: Int) -> Tree {
            let root = Tree()
            var last = root
            for _ in 1..<depth {
                let next = Tree()
                last.a = next
                last = next
            }
            return root
        }
        #expect(try ours(Tree.self, ours(nested(512))).depth == 512)
        let output = JSONOutput()
        output.append("kept" as StaticString)
        #expect { try output.encode(nested(513)) } throws: { error in
            guard case EncodingError.invalidValue(_, let context) = error else { return false }
            return context.debugDescription.contains("512 levels")
        }
        #expect(output.count == 4)
        #expect(throws: EncodingError.self) { try output.encode(Endless()) }
        #expect(throws: EncodingError.self) { try output.encode(EndlessWrapper()) }
        #expect(throws: EncodingError.self) { try output.encode([EndlessWrapper()]) }
        try output.encode(1)
        #expect(String(decoding: output.bytes, as: UTF8.self) == "kept1")
    }

    /// What Swift writes for an enumeration opens its containers from other containers.
    private indirect enum Chain: Codable {
        case end, link(Chain)
        init(links: Int) {
            self = .end
            for _ in 0..<links { self = .link(self) }
        }
    }

    @Test(arguments: [256, 257, 300, 5_000])
    func `and the reason is told to every container that finds no place`(links: Int) throws {
        #expect(try ours(Chain(links: 255)).isEmpty == false)
        #expect {
            try ours(Chain(links: links))
        } throws: { error in
            guard case EncodingError.invalidValue(_, let context) = error else { return false }
            return context.debugDescription == "Nested deeper than 512 levels (maximumDepth)."
                && context.codingPath.count >= 510
        }
    }

    @Test func `text nested deeper than the limit refuses to decode`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"a":"#, count: depth) + "{}" + String(repeating: "}", count: depth)
        }
        #expect(try ours(Tree.self, nested(511)).depth == 512)
        #expect(throws: DecodingError.self) { try ours(Tree.self, nested(512)) }
        #expect(throws: DecodingError.self) { try ours(Tree.self, nested(100_000)) }
        #expect(throws: DecodingError.self) { try ours(Pair.self, #"{"a":1,"unknown":\#(nested(512))}"#) }
    }

    /// The bound is far above what a linear reader needs in a debug build, and far below what a quadratic one would.
    @Test(arguments: Hostile.allCases)
    fileprivate func `a hostile text costs time in proportion`(_ kind: Hostile) {
        let text = kind.text
        let start = Self.cpuSeconds()
        _ = try? ours(Anything.self, text)
        _ = try? ours([String: Int].self, text)
        _ = try? ours([Int].self, text)
        _ = try? ours(Node.self, text)
        _ = try? ours(Pair.self, text)
        let seconds = Self.cpuSeconds() - start
        #expect(seconds < 5, "\(kind) \(seconds)")
    }

    /// Of this thread alone: other tests run at the same time.
    private static func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

private enum Hostile: CaseIterable {
    case digits, fraction, exponent, backslashes, blanks, escapes, pairs, brackets, emptyArrays, numbers
    case members, sameMember, duplicates, escapedNames, deep, deepAskedInVain, deepTwice

    var text: String {
        switch self {
        case .digits: many("1", 1 << 20)
        case .fraction: "0." + many("0", 1 << 20)
        case .exponent: "1e" + many("9", 1 << 20)
        case .backslashes: "\"" + many("\\\\", 1 << 16) + "\""
        case .blanks: many(" ", 1 << 18) + "1"
        case .escapes: "\"" + many("\\u00e9", 20_000) + "\""
        case .pairs: "\"" + many("\\ud83d\\ude00", 10_000) + "\""
        case .brackets: many("[", 1 << 20)
        case .emptyArrays: "[" + many("[],", 20_000) + "1]"
        case .numbers: "[" + many("12,", 20_000) + "1]"
        case .members: object(8_000) { "member\($0)" }
        case .sameMember: object(20_000) { _ in "a" }
        case .duplicates: object(8_000) { "member\($0 % 1000)" }
        case .escapedNames: object(5_000) { "\\u0061b\($0)" }
        case .deep: nested("c")
        case .deepAskedInVain: nested("child")
        case .deepTwice: nested("child\":1,\"child")
        }
    }

    private func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    private func object(_ count: Int, _ name: (Int) -> String) -> String {
        let members = (0..<count).map { number in "\"" + name(number) + "\":1" }
        return "{" + members.joined(separator: ",") + "}"
    }

    private func nested(_ name: String) -> String {
        let filling = (0..<8).map { number in "\"f\(number)\":[{},\"" + many("x", 40) + "\"]" }
        let open = "{" + filling.joined(separator: ",") + ",\"" + name + "\":"
        return many(open, 400) + "null" + many("}", 400)
    }
}

/// Any JSON, built with the containers a user would build it with.
private enum Anything: Decodable {
    case null, bool(Bool), number(Double), text(String), list([Anything]), members([String: Anything])

    init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            var members: [String: Anything] = [:]
            for key in container.allKeys { members[key.stringValue] = try container.decode(Anything.self, forKey: key) }
            self = .members(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var list: [Anything] = []
            while !container.isAtEnd { list.append(try container.decode(Anything.self)) }
            self = .list(list)
        } else {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let bool = try? container.decode(Bool.self) {
                self = .bool(bool)
            } else if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }
}

/// Looks for members that are not there before it goes down, on every level.
private final class Node: Decodable {
    let missing: Int?
    let child: Node?
    let alsoMissing: String?

    private enum CodingKeys: CodingKey { case missing, child, alsoMissing }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        missing = try container.decodeIfPresent(Int.self, forKey: .missing)
        child = try container.decodeIfPresent(Node.self, forKey: .child)
        alsoMissing = try container.decodeIfPresent(String.self, forKey: .alsoMissing)
    }
}

private struct Endless: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        try container.encode(Endless())
    }
}

private struct EndlessWrapper: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(EndlessWrapper())
    }
}
