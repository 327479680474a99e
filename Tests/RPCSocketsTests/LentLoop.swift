// A loop whose thread is kept by code that blocks, which is looked at when the test says so.

import RPCWire
import Synchronization
import TestSupport
import Testing

@testable import RPCSockets

/// A loop and its monitor.
struct LentLoop: Sendable {
    let loop: EventLoop
    /// Has the loop looked at only when the test does.
    let monitor: HandoffMonitor
    let takeovers = Lock(0)
    let complaints = Diary<String>()

    init(maximumBlockedThreads: Int = 64, name: String = "lent") throws {
        var events = HandoffMonitor.Events()
        events.tookOver = { [takeovers] in takeovers.withLock { $0 += 1 } }
        events.waits = { [complaints] _, why in complaints.note(why) }
        monitor = HandoffMonitor(
            maximumBlockedThreads: maximumBlockedThreads, events: events, looksBySelf: false)
        loop = try EventLoop(name: name, monitor: monitor)
    }

    /// Runs a job on the loop that keeps its thread; returns when it does.
    @discardableResult
    func block<End: Sendable>(
        on barrier: Barrier, then end: @escaping @Sendable () async -> End = {}
    ) async throws -> Task<End, Never> {
        let loop = loop
        let task = Lock<Task<End, Never>?>(nil)
        try await handedOver { begun in
            let started = Task(executorPreference: loop) {
                begun(())
                barrier.wait()
                return await end()
            }
            task.withLock { $0 = started }
        }
        return try #require(task.withLock { $0 })
    }

    func look(times count: Int) {
        for _ in 0..<count { loop.look() }
    }

    /// Until the thread that is kept has been replaced.
    func lookUntilReplaced() {
        let before = takeovers.withLock { $0 }
        while takeovers.withLock({ $0 }) == before, !Task.isCancelled { loop.look() }
    }
}
