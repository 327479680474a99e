// Which kept threads are replaced, how many, and what is left of them.

import RPCWire
import Synchronization
import TestSupport
import Testing

@testable import RPCSockets

#if canImport(Glibc)
    import Glibc
#else
    import Foundation
#endif

@Suite(.waitsForOthers) struct `Threads that jobs keep` {
    @Test func `a hundred takeovers leave no thread behind`() async throws {
        let name = "lent-\(UInt32.random(in: 0..<1_000_000))"
        let lent = try LentLoop(name: name)
        for _ in 0..<100 {
            let barrier = Barrier()
            try await lent.block(on: barrier)
            lent.lookUntilReplaced()
            try await lent.loop.perform {}
            barrier.open()
        }
        #expect(lent.takeovers.withLock { $0 } == 100)
        await until { lent.monitor.keptThreads == 0 }
        await until { threads(named: name) <= 1 }
        lent.loop.shutdown()
    }

    private func threads(named name: String) -> Int {
        guard let tasks = opendir("/proc/self/task") else { return 0 }
        defer { closedir(tasks) }
        var count = 0
        while let entry = readdir(tasks) {
            let task = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            // A thread may have ended since it was listed.
            let text = try? FileDescriptor("/proc/self/task/\(task)/comm", O_RDONLY).readToEnd(atMost: 100)
            if text == Array("\(name)\n".utf8) { count += 1 }
        }
        return count
    }

    @Test func `when as many threads are kept as may be, the loop waits until one is back`() async throws {
        let lent = try LentLoop(maximumBlockedThreads: 1)
        let (first, second, diary) = (Barrier(), Barrier(), Diary<Int>())
        try await lent.block(on: first)
        lent.lookUntilReplaced()
        try await lent.block(on: second)
        lent.loop.submit { diary.note(1) }
        while lent.complaints.all.isEmpty, !Task.isCancelled { lent.loop.look() }
        lent.look(times: 10)
        #expect(
            lent.complaints.all == [
                "objects that block keep as many threads as may be replaced: 1 (maximumBlockedThreads)"
            ])
        #expect(diary.all == [])
        first.open()
        await until { lent.monitor.keptThreads == 0 }
        lent.lookUntilReplaced()
        try await lent.loop.perform {}
        #expect(diary.all == [1])
        #expect(lent.takeovers.withLock { $0 } == 2)
        #expect(lent.complaints.all.count == 1)
        second.open()
        lent.loop.shutdown()
    }

    @Test func `the more threads are kept, the later the next one is replaced`() async throws {
        let lent = try LentLoop()
        let barrier = Barrier()
        for kept in 0..<4 {
            try await lent.block(on: barrier)
            lent.look(times: 1 + kept)
            #expect(lent.monitor.keptThreads == kept)
            lent.look(times: 1)
            #expect(lent.monitor.keptThreads == kept + 1)
            await until { lent.takeovers.withLock { $0 } == kept + 1 }
        }
        barrier.open(for: 4)
        await until { lent.monitor.keptThreads == 0 }
        lent.loop.shutdown()
    }

    @Test func `a loop that has not been lent for some time is not watched`() async throws {
        let lent = try LentLoop()
        for _ in 0..<3 {
            await Task(executorPreference: lent.loop) {}.value
            #expect(lent.loop.isWatched)
            // The job is over, and not only its task.
            try await lent.loop.perform {}
            lent.look(times: 20)
            #expect(!lent.loop.isWatched)
        }
        lent.loop.shutdown()
    }

    @Test func `a loop that is shut down while a job keeps its thread ends in another`() async throws {
        let lent = try LentLoop()
        let barrier = Barrier()
        let task = try await lent.block(on: barrier)
        lent.loop.shutdown()
        lent.lookUntilReplaced()
        barrier.open()
        await task.value
        // There is a thread for late jobs.
        await Task(executorPreference: lent.loop) {}.value
        // Its job is over, and not only its task: a look at the job would have the loop watched on.
        try await lent.loop.perform {}
        lent.look(times: 20)
        #expect(!lent.loop.isWatched)
    }
}
