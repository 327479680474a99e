// The tables of the article "What travels": each value goes to a server as the JSON that the article has for it, and comes back.

import Foundation
import RPCServer
import RPCSockets
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers, .hasTime) struct `What travels` {
    private static let forms = ArticleTable.rows(of: "WhatTravels", under: "| Code | JSON | Remarks |")
    private static let readings = ArticleTable.rows(of: "WhatTravels", under: "| Read as | JSON | Becomes |")

    @Test func `each value of the article is tried, and no other`() {
        #expect(Self.forms.map { $0[0] } == Sample.all.map { "`\($0.code)`" })
        #expect(!Self.readings.isEmpty)
    }

    @Test(arguments: forms)
    func `each value has the JSON that the article says, either way`(_ row: [String]) async throws {
        let (code, json) = (unquoted(row[0]), unquoted(row[1]))
        #expect(try await answer(to: "[[\(quoted(code)),\(json)]]") == #""result":"# + json)
    }

    @Test(arguments: readings)
    func `what else can be read becomes what the article says`(_ row: [String]) async throws {
        let (type, json, becomes) = (unquoted(row[0]), unquoted(row[1]), row[2])
        let answer = try await answer(to: "[[\(quoted(type)),\(json)]]")
        if becomes == "refused" {
            #expect(answer.hasPrefix(#""error":{"code":-32602,"#))
        } else {
            #expect(answer == #""result":"# + unquoted(becomes))
        }
    }

    /// Row C21 of "What became of my call".
    @Test func `a number that JSON cannot write is refused at the end that would write it`() async throws {
        try await withServer(exporting: [ScalesProxy(BathroomScales())]) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            for number in [Double.nan, .infinity, -.infinity] {
                let argument = await #expect(throws: RPCError.self) { try await ScalesProxy(client).weigh(number) }
                #expect(argument?.code == .invalidArguments && argument?.outcome == .notExecuted)
            }
            let result = await #expect(throws: RPCError.self) { try await ScalesProxy(client).broken() }
            #expect(result?.code == .subjectFailed && result?.outcome == .executed)
        }
    }

    @Test func `an object of a class travels as a copy, and within the process as itself`() async throws {
        try await withServer(exporting: [ScalesProxy(BathroomScales())]) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            let weight = Weight(grams: 5)
            let copy = try await ScalesProxy(client).same(weight)
            #expect(copy !== weight && copy.grams == 5)
            #expect(try await ScalesProxy(BathroomScales()).same(weight) === weight)
        }
    }

    @Test func `a missing member has the value that the type gives it`() async throws {
        let answer = try await answer(to: #"[["Order",{"item":"tea"}]]"#)
        #expect(answer == #""result":{"item":"tea","count":1}"#)
    }

    /// The answer of the customs to these parameters, without what every answer has.
    private func answer(to params: String) async throws -> String {
        try await withServer(exporting: [CustomsProxy(CustomsOffice())]) { url in
            try await blocking {
                let answer = try RawClient(url).ask(
                    #"{"jsonrpc":"2.0","id":1,"method":"Customs.pass","params":\#(params)}"#)
                return String((answer ?? "closed").dropFirst(#"{"jsonrpc":"2.0","id":1,"#.count).dropLast())
            }.get()
        }
    }

    private func unquoted(_ cell: String) -> String { cell.trimmingCharacters(in: ["`"]) }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// A value of the article's table.
private struct Sample: Sendable {
    let code: String
    /// Reads the value, and throws unless it is the right one.
    let read: @Sendable (inout any UnkeyedDecodingContainer) throws -> any Codable & Sendable

    init<Value: Codable & Equatable & Sendable>(_ code: String, _ value: Value) {
        self.code = code
        read = { container in
            let read = try container.decode(Value.self)
            guard read == value else { throw RPCError(.invalidArguments, "read \(read)", outcome: .notExecuted) }
            return read
        }
    }

    /// A value for which there is no `==`.
    init<Value: Codable & Sendable>(_ code: String, like value: Value) {
        self.code = code
        read = { try $0.decode(Value.self) }
    }

    static let all: [Sample] = [
        Sample("true", true),
        Sample("42", 42),
        Sample("Int64.max", Int64.max),
        Sample("UInt64.max", UInt64.max),
        Sample("Int128.min", Int128.min),
        Sample("1.0", 1.0),
        Sample("0.1", 0.1),
        Sample("1.0 / 3", 1.0 / 3),
        Sample("1e100", 1e100),
        Sample("-0.0", -0.0),
        Sample("Float(0.1)", Float(0.1)),
        Sample(#"Decimal(string: "19.990")"#, Decimal(string: "19.990")),

        Sample(#""Zoë 👋""#, "Zoë 👋"),
        Sample(#""a/b \"c\"""#, "a/b \"c\""),
        Sample(#""tab\t, bell\u{7}""#, "tab\t, bell\u{7}"),
        Sample("Data([1, 2, 254, 255])", Data([1, 2, 254, 255])),
        Sample("Date(timeIntervalSince1970: 0)", Date(timeIntervalSince1970: 0)),
        Sample("Date(timeIntervalSinceReferenceDate: 1.5)", Date(timeIntervalSinceReferenceDate: 1.5)),
        Sample(
            #"UUID(uuidString: "f8f0b8a4-0b0a-4c0b-9b0a-0b0a4c0b9b0a")"#,
            UUID(uuidString: "f8f0b8a4-0b0a-4c0b-9b0a-0b0a4c0b9b0a")),
        Sample(#"URL(string: "https://swift.org/a?b=c")"#, URL(string: "https://swift.org/a?b=c")),
        Sample("Duration.milliseconds(1500)", Duration.milliseconds(1500)),

        Sample("Point(x: 1, y: 2)", Point(x: 1, y: 2)),
        Sample(#"Note(text: "hi", author: nil)"#, Note(text: "hi", author: nil)),
        Sample("Weight(grams: 5)", like: Weight(grams: 5)),
        Sample(#"Tag(rawValue: "new")"#, Tag(rawValue: "new")),

        Sample("Direction.left", Direction.left),
        Sample("Colour.red", Colour.red),
        Sample("Grade.second", Grade.second),
        Sample("Move.stop", Move.stop),
        Sample("Move.walk(steps: 3)", Move.walk(steps: 3)),
        Sample(#"Move.say("hi", 2)"#, Move.say("hi", 2)),

        Sample("[1, 2, 3]", [1, 2, 3]),
        Sample("Set([1])", Set([1])),
        Sample("1...5", 1...5),
        Sample(#"["a": 1]"#, ["a": 1]),
        Sample("[7: true]", [7: true]),
        Sample("[Colour.red: 1]", [Colour.red: 1]),
        Sample(#"[Tag(rawValue: "new"): 1]"#, [Tag(rawValue: "new"): 1]),
        Sample("[1.5: 1]", [1.5: 1]),

        Sample("Int?.none", Int?.none),
        Sample("[1, nil]", [1, nil] as [Int?]),
        Sample(#"["a": nil] as [String: Int?]"#, ["a": nil] as [String: Int?]),
        Sample("Int??.some(1)", Int??.some(1)),
    ]

    /// The types of the table of what else is read.
    static let readers: [String: @Sendable (inout any UnkeyedDecodingContainer) throws -> any Codable & Sendable] = [
        "Int": { try $0.decode(Int.self) }, "Int?": { try $0.decode(Int?.self) },
        "Int??": { try $0.decode(Int??.self) },
        "UInt8": { try $0.decode(UInt8.self) }, "Double": { try $0.decode(Double.self) },
        "Float": { try $0.decode(Float.self) },
        "Decimal": { try $0.decode(Decimal.self) }, "Bool": { try $0.decode(Bool.self) },
        "String": { try $0.decode(String.self) }, "Data": { try $0.decode(Data.self) },
        "Date": { try $0.decode(Date.self) },
        "UUID": { try $0.decode(UUID.self) }, "URL": { try $0.decode(URL.self) },
        "Point": { try $0.decode(Point.self) },
        "Note": { try $0.decode(Note.self) }, "Colour": { try $0.decode(Colour.self) },
        "Order": { try $0.decode(Order.self) },
    ]
}

/// Reads a value of the kind that is named before it, and writes it alone.
private struct Goods: Codable, Sendable {
    let value: any Codable & Sendable

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        let code = try container.decode(String.self)
        let read = Sample.all.first { $0.code == code }?.read ?? Sample.readers[code]
        guard let read else { throw RPCError(.invalidRequest, "there is no \(code)", outcome: .notExecuted) }
        value = try read(&container)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

@Service
private protocol Customs: Sendable {
    func pass(_ goods: Goods) async throws -> Goods
}

private struct CustomsOffice: Customs {
    func pass(_ goods: Goods) async throws -> Goods { goods }
}

private struct Point: Codable, Hashable, Sendable {
    var x: Int
    var y: Int
}

private struct Note: Codable, Hashable, Sendable {
    var text: String
    var author: String?
}

private final class Weight: Codable, Sendable {
    let grams: Int
    init(grams: Int) { self.grams = grams }
}

private struct Tag: RawRepresentable, Codable, Hashable, Sendable {
    var rawValue: String
}

private enum Direction: Codable, Sendable { case left, right }

private enum Colour: String, Codable, Sendable { case red, blue }

private enum Grade: Int, Codable, Sendable { case first = 1, second }

private enum Move: Codable, Hashable, Sendable {
    case stop
    case walk(steps: Int)
    case say(String, Int)
}

struct Order: Codable, Sendable {
    var item: String
    var count: Int

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        item = try values.decode(String.self, forKey: .item)
        count = try values.decodeIfPresent(Int.self, forKey: .count) ?? 1
    }
}

@Service
private protocol Scales: Sendable {
    func weigh(_ number: Double) async throws -> Double
    func broken() async throws -> Double
    func same(_ weight: Weight) async throws -> Weight
}

private struct BathroomScales: Scales {
    func weigh(_ number: Double) async throws -> Double { number }
    func broken() async throws -> Double { .nan }
    func same(_ weight: Weight) async throws -> Weight { weight }
}
