// 64 callers send a record and get it back: what coding adds, for a plain record and for one with a member of each kind.

import Foundation
import RawEcho
import RemoteProxy
import SampleProtocols

extension Workload {
    static let record = Workload(
        name: "record", summary: "a record there and back, 64 callers",
        goal: Goal("ratio", .atLeast(0.33)),
        kind: .overSockets(
            OverSockets(
                baseline: RawBaseline(way: raw_batched, window: 64, message: Message.record),
                comparison: .callsPerSecond
            ) { site in
                let echo: any Echo = EchoProxy(RPCClient(site.url))
                return try await Callers(count: 64) { _, stint in
                    while stint.goesOn() { try check(await echo.record(.sample).id == Record.sample.id) }
                }.measure(at: site)
            }))

    static let recordFull = Workload(
        name: "record-full", summary: "a record with long fractions and nested values there and back, 64 callers",
        goal: nil,
        kind: .overSockets(
            OverSockets(
                baseline: RawBaseline(way: raw_batched, window: 64, message: Message.record),
                comparison: .callsPerSecond
            ) { site in
                let archive: any Archive = ArchiveProxy(RPCClient(site.url))
                return try await Callers(count: 64) { _, stint in
                    while stint.goesOn() { try check(await archive.back(.sample) == FullRecord.sample) }
                }.measure(at: site)
            }))
}

/// Sends a record back. Not internal, for the reason that `LetterBox` gives.
@Service
@usableFromInline
protocol Archive: Sendable {
    func back(_ record: FullRecord) async throws -> FullRecord
}

final class EchoingArchive: Archive {
    func back(_ record: FullRecord) async throws -> FullRecord { record }
}

/// A record as programs have them: fractions of 15 to 17 digits, an optional, a nested value, a date and a choice.
@usableFromInline
struct FullRecord: Codable, Sendable, Equatable {
    struct Address: Codable, Sendable, Equatable {
        var street: String
        var city: String
        var code: Int
    }

    enum Status: Codable, Sendable, Equatable {
        case free
        case busy(until: Date, with: String)
    }

    var id: Int
    var name: String
    var email: String
    var tags: [String]
    var scores: [Double]
    var active: Bool
    var nickname: String?
    var supervisor: Int?
    var address: Address
    var born: Date
    var status: Status

    static let sample = FullRecord(
        id: 4_711, name: "Grace Brewster Hopper", email: "grace.hopper@example.org",
        tags: ["admiral", "compiler", "cobol"],
        scores: [
            0.8414709848078965, 0.9092974268256817, 0.1411200080598672, -0.7568024953079282, 2.718281828459045,
            1234.5678901234567, 6.626070150000001e-34, 98765.43210987654,
        ],
        active: true, nickname: "Amazing Grace", supervisor: nil,
        address: Address(street: "1 Navy Yard", city: "Arlington", code: 22_201),
        born: Date(timeIntervalSinceReferenceDate: -2_966_630_400.125),
        status: .busy(until: Date(timeIntervalSinceReferenceDate: 770_000_000.25), with: "UNIVAC"))
}

extension Record {
    /// The record that is sent, and that the codecs are compared on.
    static let sample = Record(
        id: 4_711, name: "Grace Brewster Hopper", email: "grace.hopper@example.org",
        tags: ["admiral", "compiler", "cobol"], scores: [97.5, 88.25, 91], active: true)
}
