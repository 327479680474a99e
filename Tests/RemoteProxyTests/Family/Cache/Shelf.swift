// A service worth caching, an object of it that a test directs, and what a cache is surrounded by in tests.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

@Service
protocol Shelf: Sendable {
    func titles() async throws -> [String]
    @ReadOnly func book(_ number: Int) async throws -> String
    func search(_ words: [String: Int]) async throws -> String
    func add(_ title: String) async throws -> Int
    func dust(_ times: Int)
}

struct ShelfIsAway: Error, Equatable {}

/// Answers with how many calls there have been, so that an old answer can be told from a new one.
final class CountingShelf: Shelf {
    private struct State {
        var calls = 0
        var delay = Duration.zero
        var isAway = false
        var cancelled = 0
        var dusted = 0
    }

    private let loop: ManualLoop
    private let state = Lock(State())

    init(_ loop: ManualLoop) { self.loop = loop }

    var calls: Int { state.withLock { $0.calls } }
    var cancelled: Int { state.withLock { $0.cancelled } }
    var dusted: Int { state.withLock { $0.dusted } }

    /// How long each call takes from now on.
    func takes(_ delay: Duration) { state.withLock { $0.delay = delay } }
    func isAway(_ isAway: Bool) { state.withLock { $0.isAway = isAway } }

    func titles() async throws -> [String] { ["titles", "\(try await called())"] }
    func book(_ number: Int) async throws -> String { "book \(number), \(try await called())" }
    func search(_ words: [String: Int]) async throws -> String { "\(words.count) words, \(try await called())" }
    func add(_ title: String) async throws -> Int { try await called() }
    func dust(_ times: Int) { state.withLock { $0.dusted += times } }

    private func called() async throws -> Int {
        let (call, delay) = state.withLock { state in
            state.calls += 1
            return (state.calls, state.delay)
        }
        do {
            if delay > .zero { try await loop.sleep(for: delay) }
        } catch {
            state.withLock { $0.cancelled += 1 }
            throw error
        }
        if state.withLock({ $0.isAway }) { throw ShelfIsAway() }
        return call
    }
}

extension CacheEnvironment {
    /// All on one loop that the test moves; the wall clock begins on a day of its own and moves with it.
    static func manual(_ loop: ManualLoop, startingAt start: Int64 = 1_000_000_000_000_000_000) -> CacheEnvironment {
        CacheEnvironment(
            loop: loop, executor: loop, wallTime: { start + loop.now.nanoseconds }, block: { loop.submit($0) })
    }
}

/// What was said, for looking at.
final class Heard: Sendable {
    private let lines = Lock<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    @Sendable func hear(_ line: String) { lines.withLock { $0.append(line) } }
    @Sendable func hear(_ record: LogRecord) { hear(record.message) }
}
