// Our codec against Foundation's: a small message and a record, each way.

import BenchedJSONCodec
import Foundation
import RawEcho
import SampleProtocols

/// A request as a value: what a codec without a hand-written envelope would have to code for each call.
private struct Request: Codable, Equatable {
    var jsonrpc = "2.0"
    var method = "Calculator.add"
    var params = [1_000, 24]
    var id = 123_456
}

extension Workload {
    static let json = Workload(
        name: "json", summary: "our codec against Foundation's, a small message and a record, each way",
        goal: Goal("ratio", .atLeast(10)),
        kind: .alone { seconds in
            var figures = Figures()
            try compare("message", Request(), seconds / 2, into: &figures)
            try compare("record", Record.sample, seconds / 2, into: &figures)
            return figures
        })

    private static func compare<Value: Codable & Equatable>(
        _ name: String, _ value: Value, _ seconds: Double, into figures: inout Figures
    ) throws {
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        let output = JSONOutput()
        // Both read the text that goes over the wire. Foundation would write the members in an order that changes from
        // run to run; what they cost us in another order is measured beside.
        try output.encode(value)
        let data = Data(output.bytes)
        let bytes = [UInt8](data)
        encoder.outputFormatting = .sortedKeys
        let sorted = [UInt8](try encoder.encode(value))
        encoder.outputFormatting = []
        let times = try nanoseconds(
            seconds,
            [
                {
                    output.removeAll()
                    try output.encode(value)
                },
                { try check(bytes.withUnsafeBytes { try decodeJSON(Value.self, from: $0) } == value) },
                { try check(sorted.withUnsafeBytes { try decodeJSON(Value.self, from: $0) } == value) },
                { try check(encoder.encode(value).count == data.count) },
                { try check(decoder.decode(Value.self, from: data) == value) },
            ])
        figures["\(name)_encode_ns"] = times[0]
        figures["\(name)_decode_ns"] = times[1]
        figures["\(name)_decode_sorted_ns"] = times[2]
        figures["foundation_\(name)_encode_ns"] = times[3]
        figures["foundation_\(name)_decode_ns"] = times[4]
        figures["\(name)_encode_ratio"] = times[3] / times[0]
        figures["\(name)_decode_ratio"] = times[4] / times[1]
        figures["ratio"] = min(figures["ratio"] ?? .infinity, times[3] / times[0], times[4] / times[1])
    }

    /// The median time of each, measured by turns: what disturbs one of them disturbs all.
    private static func nanoseconds(_ seconds: Double, _ bodies: [() throws -> Void]) throws -> [Double] {
        let round = 200
        let end = bench_now() + UInt64(seconds * 1e9)
        var times = bodies.map { _ in [Double]() }
        repeat {
            for (number, body) in bodies.enumerated() {
                let begin = bench_now()
                for _ in 0..<round { try body() }
                times[number].append(Double(bench_now() - begin) / Double(round))
            }
        } while bench_now() < end
        return times.map { Figures.median(of: $0) ?? 0 }
    }
}
