// Which kept threads are replaced, how many, and what is left of them.

import Foundation
import RPCWire
import Synchronization
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct `Threads that jobs keep` {
    @Test func `a hundred takeovers leave no thread behind`() async throws {
        let name = "lent-\(UInt32.random(in: 0..<1_000_000))"
        let lent = try LentLoop(name: name)
        for _ in 0..<100 {
            let barrier = Barrier()
            await lent.block(on: barrier)
            lent.lookUntilReplaced()
            await lent.loop.perform {}
            barrier.open()
        }
        #expect(lent.takeovers.withLock { $0 } == 100)
        await until { lent.watch.blockedThreads == 0 }
        #if os(Linux)
            await until { threads(named: name) <= 1 }
        #endif
        lent.loop.shutdown()
    }

    private func threads(named name: String) -> Int {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.count {
            (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == name + "\n"
        }
    }

    @Test func `when as many threads are kept as may be, the loop waits until one is back`() async throws {
        let lent = try LentLoop(maximumBlockedThreads: 1)
        let (first, second, diary) = (Barrier(), Barrier(), Diary<Int>())
        await lent.block(on: first)
        lent.lookUntilReplaced()
        await lent.block(on: second)
        lent.loop.submit { diary.note(1) }
        while lent.complaints.all.isEmpty, !Task.isCancelled { lent.watch.look() }
        lent.look(times: 10)
        #expect(
            lent.complaints.all == [
                "objects that block keep as many threads as may be replaced: 1 (maximumBlockedThreads)"
            ])
        #expect(diary.all == [])
        first.open()
        await until { lent.watch.blockedThreads == 0 }
        lent.lookUntilReplaced()
        await lent.loop.perform {}
        #expect(diary.all == [1])
        #expect(lent.takeovers.withLock { $0 } == 2)
        #expect(lent.complaints.all.count == 1)
        second.open()
        lent.loop.shutdown()
    }

    @Test func `of threads that compute one is replaced, of threads that sleep all`() async throws {
        let lent = try LentLoop()
        let isOver = Flag()
        defer { isOver.raise() }
        var threads: [Int32] = []
        for _ in 0..<2 {
            let isComputing = Flag()
            let computing = await handedOver { answer in
                Task(executorPreference: lent.loop) {
                    answer(SystemThread.systemNumber)
                    isComputing.raise()
                    while !isOver.isRaised {}
                }
            }
            // Answering may have to wait for a moment, in which the thread sleeps.
            await until { isComputing.isRaised }
            threads.append(computing)
            if threads.count == 1 { lent.lookUntilReplaced() }
        }
        #if os(Linux)
            #expect(threads.allSatisfy { SystemThread.isRunning(systemNumber: $0) })
            lent.look(times: 30)
            #expect(lent.takeovers.withLock { $0 } == 1)
            #expect(lent.complaints.all == [])
        #endif
        isOver.raise()
        await until { lent.watch.blockedThreads == 0 }
        let barrier = Barrier()
        for count in 1...3 {
            await lent.block(on: barrier)
            while lent.watch.blockedThreads < count, !Task.isCancelled { lent.watch.look() }
        }
        barrier.open(for: 3)
        await lent.loop.perform {}
        lent.loop.shutdown()
    }

    @Test func `nobody looks at a loop that has not been lent for some time`() async throws {
        let lent = try LentLoop()
        for _ in 0..<3 {
            await Task(executorPreference: lent.loop) {}.value
            #expect(lent.watch.loopsInSight == 1)
            // The job is over, and not only its task.
            await lent.loop.perform {}
            lent.look(times: 20)
            #expect(lent.watch.loopsInSight == 0)
        }
        lent.loop.shutdown()
    }

    @Test func `nobody looks at a loop that has ended`() async throws {
        let lent = try LentLoop()
        let barrier = Barrier()
        await lent.block(on: barrier)
        lent.loop.shutdown()
        lent.look(times: 20)
        #expect(lent.watch.loopsInSight == 0)
        #expect(lent.takeovers.withLock { $0 } == 0)
        barrier.open()
        // The loop has still somebody for late jobs, and nobody looks at those either.
        await Task(executorPreference: lent.loop) {}.value
        #expect(lent.watch.loopsInSight == 0)
    }
}
