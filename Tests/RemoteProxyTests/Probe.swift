// A service made for looking at: what it was asked to do is in the call, what it did is in its log.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport

enum ProbeFailure: Error, Codable, Sendable, Hashable {
    case asAsked(Int)

    var number: Int {
        switch self {
        case .asAsked(let number): number
        }
    }
}

@Service(errors: ProbeFailure.self)
protocol Probe: Sendable {
    func echo(_ number: Int) async throws -> Int
    func fail(_ number: Int) async throws -> Int
    func wait(_ number: Int, milliseconds: Int) async throws -> Int
    func refuse(_ number: Int) async throws -> Int
    func note(_ number: Int)
}

final class RecordingProbe: Probe {
    private let loop: ManualLoop
    private let log = Lock<[Int]>([])
    private let posts = Lock<[(number: Int, session: String)]>([])
    private let stopped = Lock<[Int]>([])

    init(_ loop: ManualLoop) { self.loop = loop }

    /// The numbers of the calls that ran, in the order in which they began.
    var executed: [Int] { log.withLock { $0 } }
    var noted: [Int] { notedFrom.map(\.number) }
    /// With the conversation in which each came.
    var notedFrom: [(number: Int, session: String)] { posts.withLock { $0 } }
    /// The numbers of the calls that were cancelled while they waited.
    var cancelled: [Int] { stopped.withLock { $0 } }

    func echo(_ number: Int) async throws -> Int {
        log.withLock { $0.append(number) }
        return number
    }

    func fail(_ number: Int) async throws -> Int {
        log.withLock { $0.append(number) }
        throw ProbeFailure.asAsked(number)
    }

    func wait(_ number: Int, milliseconds: Int) async throws -> Int {
        log.withLock { $0.append(number) }
        do {
            try await loop.sleep(for: .milliseconds(milliseconds))
        } catch {
            stopped.withLock { $0.append(number) }
            throw error
        }
        return number
    }

    /// Fails as a call of its own to another server might.
    func refuse(_ number: Int) async throws -> Int {
        log.withLock { $0.append(number) }
        throw RPCError(.unavailable, "upstream is away", outcome: .notExecuted, data: "not JSON")
    }

    func note(_ number: Int) {
        let session = Caller.current.map { "\($0.id)" } ?? "none"
        posts.withLock { $0.append((number, session)) }
    }
}
