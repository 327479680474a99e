// The subject that scenarios load a server with: it computes, sleeps, and tells what the server has seen.

import BenchSystem
import Glibc
import RPCServer
import RawEcho
import RemoteProxy
import Synchronization

/// Not internal, for the reason given at `LetterBox`.
@Service
@usableFromInline
protocol Furnace: Sendable {
    /// Keeps its thread for so long.
    func burn(_ microseconds: Int) async throws -> Int
    /// Keeps its thread for so long and lets it do nothing.
    func block(_ milliseconds: Int) async throws -> Int
    /// Sleeps without keeping a thread.
    func nap(_ milliseconds: Int) async throws -> Int
    /// The most naps at a time so far.
    func mostNaps() async throws -> Int
    func text(_ bytes: Int) async throws -> String
    /// The bytes that somebody holds. The process is larger: the allocator keeps up to 32 MiB for each thread of what nobody
    /// holds any more, and gives that back when it likes.
    func heldBytes() async throws -> Int
    /// Connections, sessions' calls that run, and how many were refused for having to wait.
    func facts() async throws -> [Int]
}

final class ServerFurnace: Furnace {
    private let naps = Mutex((now: 0, most: 0))
    private let server: RPCServer

    init(_ server: RPCServer) { self.server = server }

    @usableFromInline
    func burn(_ microseconds: Int) async throws -> Int {
        let end = bench_now() + UInt64(max(0, microseconds)) * 1_000
        while bench_now() < end {}
        return microseconds
    }

    @usableFromInline
    func block(_ milliseconds: Int) async throws -> Int {
        usleep(UInt32(max(0, milliseconds)) * 1_000)
        return milliseconds
    }

    @usableFromInline
    func nap(_ milliseconds: Int) async throws -> Int {
        naps.withLock { naps in
            naps.now += 1
            naps.most = max(naps.most, naps.now)
        }
        defer { naps.withLock { $0.now -= 1 } }
        try await Task.sleep(for: .milliseconds(milliseconds))
        return milliseconds
    }

    @usableFromInline
    func mostNaps() async throws -> Int { naps.withLock { $0.most } }

    @usableFromInline
    func text(_ bytes: Int) async throws -> String { String(repeating: "x", count: max(0, bytes)) }

    @usableFromInline
    func heldBytes() async throws -> Int { Int(bench_held_bytes()) }

    @usableFromInline
    func facts() async throws -> [Int] {
        let counters = server.counters
        return [
            counters.connectionsOpen, counters.requestsRunning,
            counters.overruns["maximumWait"] ?? 0,
        ]
    }
}
