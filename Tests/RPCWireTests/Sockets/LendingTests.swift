// A loop whose thread is kept by code that blocks, looked after when the test says so.

import Foundation
import Synchronization
import TestSupport
import Testing

@testable import RPCWire

/// A loop that is looked after, and who looks after it.
private struct LentLoop: Sendable {
    let loop: EventLoop
    /// Looks only when it is told to.
    let watch: LoopWatch
    let takeovers = Lock(0)
    let complaints = Diary<String>()

    init(maximumBlockedThreads: Int = 64, name: String = "lent") throws {
        var events = LoopWatch.Events()
        events.tookOver = { [takeovers] in takeovers.withLock { $0 += 1 } }
        events.waits = { [complaints] _, why in complaints.note(why) }
        watch = LoopWatch(maximumBlockedThreads: maximumBlockedThreads, events: events)
        loop = try EventLoop(name: name, watch: watch)
    }

    /// Runs a job on the loop that keeps its thread; returns when it does.
    @discardableResult
    func block<End: Sendable>(
        on barrier: Barrier, then end: @escaping @Sendable () async -> End = {}
    ) async -> Task<End, Never> {
        let hasBegun = Barrier()
        let task = Task(executorPreference: loop) {
            hasBegun.open()
            barrier.wait()
            return await end()
        }
        _ = await blocking { hasBegun.wait() }
        return task
    }

    func look(times count: Int) {
        for _ in 0..<count { watch.look() }
    }

    /// Until the thread that is kept has been replaced.
    func lookUntilReplaced() {
        let before = takeovers.withLock { $0 }
        while takeovers.withLock({ $0 }) == before, !Task.isCancelled { watch.look() }
    }
}

/// Looked at without a lock: whoever waits for one sleeps.
private final class Flag: Sendable {
    let isSet = Atomic(false)
}

@Suite(.waitsForOthers) struct `Lending a loop` {
    @Test func `a job has not the loop, other work has`() async throws {
        let lent = try LentLoop()
        let loop = lent.loop
        let inJob = await Task(executorPreference: loop) { loop.isCurrent }.value
        #expect(!inJob)
        #expect(await loop.perform { loop.isCurrent })
        let afterwards = await Task(executorPreference: loop) { loop.takeBack() && loop.isCurrent }.value
        #expect(afterwards)
        loop.shutdown()
    }

    @Test func `a job may come in for a moment, and what it has the loop do then is done after it`() async throws {
        let lent = try LentLoop()
        let (loop, diary) = (lent.loop, Diary<String>())
        await Task(executorPreference: loop) {
            let presence = loop.comeIn()
            #expect(presence.isHere && loop.isCurrent && loop.comeIn().isHere)
            loop.submit { diary.note("work") }
            loop.goOut(presence)
            #expect(!loop.isCurrent)
            diary.note("job")
        }.value
        #expect(await loop.perform { loop.comeIn().isHere && loop.isCurrent })
        #expect(!loop.comeIn().isHere)
        #expect(diary.all == ["job", "work"])
        loop.shutdown()
    }

    @Test func `a job that comes in again and again is replaced nevertheless`() async throws {
        let lent = try LentLoop()
        let loop = lent.loop
        let (hasBegun, isOver) = (Barrier(), Flag())
        defer { isOver.isSet.store(true, ordering: .relaxed) }
        let task = Task(executorPreference: loop) {
            hasBegun.open()
            while !isOver.isSet.load(ordering: .relaxed) { loop.goOut(loop.comeIn()) }
        }
        _ = await blocking { hasBegun.wait() }
        lent.lookUntilReplaced()
        await loop.perform {}
        isOver.isSet.store(true, ordering: .relaxed)
        await task.value
        loop.shutdown()
    }

    @Test func `a loop that nobody looks after is not lent`() async throws {
        try await withLoop { loop in
            let isCurrent = await Task(executorPreference: loop) { () -> Bool in
                loop.lend(forLong: true)
                return loop.isCurrent && loop.takeBack()
            }.value
            #expect(isCurrent)
        }
    }

    @Test func `work goes on while a job blocks, and the job after it`() async throws {
        let lent = try LentLoop()
        let (barrier, diary) = (Barrier(), Diary<String>())
        await lent.block(on: barrier) { diary.note("blocked") }
        let former = await handedOver { answer in
            lent.loop.submit { answer(SystemThread.current) }
            lent.lookUntilReplaced()
        }
        diary.note("neighbour")
        #expect(lent.takeovers.withLock { $0 } == 1)
        #expect(lent.watch.blockedThreads == 1)
        barrier.open()
        await until { lent.watch.blockedThreads == 0 }
        #expect(diary.all == ["neighbour", "blocked"])
        #expect(await lent.loop.perform { SystemThread.current } == former)
        lent.loop.shutdown()
    }

    @Test func `a job that comes back in time keeps the loop`() async throws {
        let lent = try LentLoop()
        let barrier = Barrier()
        let before = await lent.loop.perform { SystemThread.current }
        for _ in 0..<20 {
            await lent.block(on: barrier)
            lent.look(times: 2)
            barrier.open()
            #expect(await lent.loop.perform { SystemThread.current } == before)
        }
        #expect(lent.takeovers.withLock { $0 } == 0)
        lent.loop.shutdown()
    }

    @Test func `a job that is expected to block has another thread go on without a look`() async throws {
        let lent = try LentLoop()
        let loop = lent.loop
        let (barrier, diary) = (Barrier(), Diary<String>())
        let task = Task(executorPreference: loop) {
            #expect(loop.takeBack())
            loop.submit { diary.note("neighbour") }
            loop.lend(forLong: true)
            barrier.wait()
            diary.note("blocked")
        }
        // The first may have been taken in together with the task, and so run before what that posts.
        await loop.perform {}
        await loop.perform {}
        #expect(lent.takeovers.withLock { $0 } == 1)
        barrier.open()
        await task.value
        #expect(diary.all == ["neighbour", "blocked"])
        loop.shutdown()
    }

    @Test func `what was posted stays in order, before and after another thread has taken over`() async throws {
        let lent = try LentLoop()
        let loop = lent.loop
        let diary = Diary<Int>()
        for round in 0..<20 {
            let barrier = Barrier()
            await lent.block(on: barrier)
            for number in 0..<50 { loop.submit { diary.note(round * 100 + number) } }
            lent.lookUntilReplaced()
            for number in 50..<100 { loop.submit { diary.note(round * 100 + number) } }
            await loop.perform {}
            barrier.open()
        }
        #expect(diary.all == Array(0..<2_000))
        #expect(lent.takeovers.withLock { $0 } == 20)
        loop.shutdown()
    }

    @Test func `a job that has lost the loop finds it again by suspending`() async throws {
        let lent = try LentLoop()
        let loop = lent.loop
        let barrier = Barrier()
        let ways = await lent.block(on: barrier) {
            var ways = [loop.isCurrent, loop.takeBack(), loop.absence != nil]
            await until { loop.takeBack() }
            ways += [loop.isCurrent, loop.absence == nil]
            return ways
        }
        lent.lookUntilReplaced()
        await loop.perform {}
        barrier.open()
        #expect(await ways.value == [false, false, true, true, true])
        loop.shutdown()
    }

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

    #if os(Linux)
        @Test func `a thread that computes is not replaced while more is to be done than can be`() async throws {
            let lent = try LentLoop()
            let isOver = Flag()
            defer { isOver.isSet.store(true, ordering: .relaxed) }
            await lent.loop.perform { lent.loop.noteOverload(true) }
            let isComputing = Flag()
            Task(executorPreference: lent.loop) {
                isComputing.isSet.store(true, ordering: .relaxed)
                while !isOver.isSet.load(ordering: .relaxed) {}
            }
            await until { isComputing.isSet.load(ordering: .relaxed) }
            lent.look(times: 30)
            #expect(lent.takeovers.withLock { $0 } == 0)
            lent.loop.noteOverload(false)
            lent.lookUntilReplaced()
            isOver.isSet.store(true, ordering: .relaxed)
            await until { lent.watch.blockedThreads == 0 }
            await lent.loop.perform { lent.loop.noteOverload(true) }
            // One that sleeps is, all the same.
            let barrier = Barrier()
            await lent.block(on: barrier)
            lent.lookUntilReplaced()
            barrier.open()
            await lent.loop.perform {}
            lent.loop.shutdown()
        }
    #endif

    @Test func `of threads that compute one is replaced, of threads that sleep all`() async throws {
        let lent = try LentLoop()
        let isOver = Flag()
        defer { isOver.isSet.store(true, ordering: .relaxed) }
        var threads: [Int32] = []
        for _ in 0..<2 {
            let isComputing = Flag()
            let computing = await handedOver { answer in
                Task(executorPreference: lent.loop) {
                    answer(SystemThread.systemNumber)
                    isComputing.isSet.store(true, ordering: .relaxed)
                    while !isOver.isSet.load(ordering: .relaxed) {}
                }
            }
            // Answering may have to wait for a moment, in which the thread sleeps.
            await until { isComputing.isSet.load(ordering: .relaxed) }
            threads.append(computing)
            if threads.count == 1 { lent.lookUntilReplaced() }
        }
        #if os(Linux)
            #expect(threads.allSatisfy { SystemThread.isRunning(systemNumber: $0) })
            lent.look(times: 30)
            #expect(lent.takeovers.withLock { $0 } == 1)
            #expect(lent.complaints.all == [])
        #endif
        isOver.isSet.store(true, ordering: .relaxed)
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
