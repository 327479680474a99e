// A subject that several callers would disturb each other in, and writes down who was in it when.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport

@Service
protocol Workshop: Sendable {
    /// Works for a while.
    func work(_ name: String, milliseconds: Int) async throws -> String
    /// Looks for a while.
    @ReadOnly func look(_ name: String, milliseconds: Int) async throws -> String
    /// Makes a call of its own through the proxy that it was given.
    func delegate(_ name: String) async throws -> String
    func note(_ text: String)
}

final class BusyWorkshop: Workshop {
    private struct State {
        var log: [String] = []
        var proxy: WorkshopProxy?
    }

    private let loop: ManualLoop
    private let state = Lock(State())

    init(_ loop: ManualLoop) { self.loop = loop }

    /// A new one behind a lock, on a loop of its own.
    static func locked() -> (ManualLoop, BusyWorkshop, WorkshopProxy) {
        let loop = ManualLoop()
        let workshop = BusyWorkshop(loop)
        return (loop, workshop, WorkshopProxy(workshop).locked(clock: loop))
    }

    var log: [String] { state.withLock { $0.log } }
    var proxy: WorkshopProxy? {
        get { state.withLock { $0.proxy } }
        set { state.withLock { $0.proxy = newValue } }
    }

    func work(_ name: String, milliseconds: Int) async throws -> String {
        defer { note("\(name) out") }
        try await loop.sleep(for: .milliseconds(milliseconds)) { note("\(name) in") }
        return name
    }

    func look(_ name: String, milliseconds: Int) async throws -> String {
        try await work(name, milliseconds: milliseconds)
    }

    func delegate(_ name: String) async throws -> String {
        note("\(name) delegates")
        return try await proxy?.work(name, milliseconds: 1) ?? "nobody"
    }

    func note(_ text: String) { state.withLock { $0.log.append(text) } }
}

extension ManualLoop {
    /// Somebody else, who comes a millisecond later.
    func other(calls proxy: WorkshopProxy) -> Task<Void, any Error> {
        Task(executorPreference: self) {
            try await self.sleep(for: .milliseconds(1))
            _ = try await proxy.work("other", milliseconds: 1)
        }
    }

    /// What the body ends with when its calls have this long.
    func within<Result>(milliseconds: Int, _ body: () async throws -> Result) async rethrows -> Result {
        var scope = CallScope.current ?? CallScope()
        scope.deadline = now.advanced(by: .milliseconds(milliseconds))
        return try await CallScope.with(scope) { try await body() }
    }
}

/// The library's error that the body throws; nil if it throws none or another.
func failure<Result>(_ body: () async throws -> Result) async -> RPCError? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error as? RPCError
    }
}
