// Arguments and results know, while they are coded, which message they belong to.

import JSONCodec
import RPCSockets
import TestSupport
import Testing

@testable import RemoteProxy

/// Notes with which context it was written and read.
private struct Witness: Codable, Sendable {
    static let met = Lock<[String]>([])

    init() {}

    init(from decoder: any Decoder) throws {
        _ = try decoder.singleValueContainer().decode(Int.self)
        Self.note("read", decoder.contextObject)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(1)
        Self.note("written", encoder.contextObject)
    }

    private static func note(_ what: String, _ object: AnyObject?) {
        let whose = object is OutgoingCall ? "for a call" : object is Worker ? "in a session" : "for none"
        met.withLock { $0.append("\(what) \(whose)") }
    }
}

@Service
private protocol Court: Sendable {
    func hear(_ witness: Witness) async throws -> [Witness]
    func note(_ witness: Witness)
}

private struct PlainCourt: Court {
    func hear(_ witness: Witness) async throws -> [Witness] { [witness] }
    func note(_ witness: Witness) {}
}

@Suite(.serialized) struct `Coding in a context` {
    @Test func `is of the caller's end there, and of the session at the other end`() throws {
        let network = SimulatedNetwork()
        network.exports.add(CourtProxy(PlainCourt()), named: nil)
        let court = CourtProxy(network.client())
        Witness.met.withLock { $0 = [] }
        _ = try network.loop.complete { try await court.hear(Witness()) }
        #expect(
            Witness.met.withLock { $0 } == [
                "written for a call", "read in a session", "written in a session", "read for a call",
            ])
        Witness.met.withLock { $0 = [] }
        _ = try network.loop.complete {
            court.note(Witness())
            return try await court.hear(Witness())
        }
        let met = Witness.met.withLock { $0 }
        #expect(met.count { $0 == "written for a call" } == 2 && met.count { $0 == "read in a session" } == 2)
    }

    @Test func `is of neither for a value that is kept at this end`() async throws {
        Witness.met.withLock { $0 = [] }
        let court = CourtProxy(PlainCourt()).cached(in: .memory)
        _ = try await court.hear(Witness())
        #expect(Witness.met.withLock { $0 }.allSatisfy { $0.hasSuffix("for none") })
    }
}
