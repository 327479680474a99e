// Our codec against Foundation's: a small message and a record, each way. The one file of the bench that knows
// Foundation.

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
        let data = try encoder.encode(value)
        let bytes = [UInt8](data)
        let output = JSONOutput()
        let share = seconds / 4
        let encode = try nanoseconds(share) {
            output.removeAll()
            try output.encode(value)
        }
        let decode = try nanoseconds(share) {
            try check(bytes.withUnsafeBytes { try decodeJSON(Value.self, from: $0) } == value)
        }
        let foundationEncode = try nanoseconds(share) { try check(encoder.encode(value).count == data.count) }
        let foundationDecode = try nanoseconds(share) { try check(decoder.decode(Value.self, from: data) == value) }
        figures["\(name)_encode_ns"] = encode
        figures["\(name)_decode_ns"] = decode
        figures["foundation_\(name)_encode_ns"] = foundationEncode
        figures["foundation_\(name)_decode_ns"] = foundationDecode
        figures["\(name)_encode_ratio"] = foundationEncode / encode
        figures["\(name)_decode_ratio"] = foundationDecode / decode
        figures["ratio"] = min(figures["ratio"] ?? .infinity, foundationEncode / encode, foundationDecode / decode)
    }

    private static func nanoseconds(_ seconds: Double, _ body: () throws -> Void) rethrows -> Double {
        let round = 200
        let end = bench_now() + UInt64(seconds * 1e9)
        var times: [Double] = []
        repeat {
            let begin = bench_now()
            for _ in 0..<round { try body() }
            times.append(Double(bench_now() - begin) / Double(round))
        } while bench_now() < end
        return Figures.median(of: times) ?? 0
    }
}
