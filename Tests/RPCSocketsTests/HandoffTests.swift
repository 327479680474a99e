// Who has a loop while a job keeps its thread, and in which order things are done then.

import RPCWire
import Synchronization
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct `Lending a loop` {
    @Test func `a job has not the loop, other work has`() async throws {
        let lent = try LentLoop()
        let loop = lent.loop
        let inJob = await Task(executorPreference: loop) { loop.isCurrent }.value
        #expect(!inJob)
        #expect(try await loop.perform { loop.isCurrent })
        let afterwards = await Task(executorPreference: loop) { loop.takeBack() && loop.isCurrent }.value
        #expect(afterwards)
        loop.shutdown()
    }

    @Test func `a job may enter for a moment, and what it has the loop do then is done after it`() async throws {
        let lent = try LentLoop()
        let (loop, diary) = (lent.loop, Diary<String>())
        await Task(executorPreference: loop) {
            let visit = loop.enter()
            #expect(visit.isOnLoop && loop.isCurrent && loop.enter().isOnLoop)
            loop.submit { diary.note("work") }
            loop.leave(visit)
            #expect(!loop.isCurrent)
            diary.note("job")
        }.value
        #expect(try await loop.perform { loop.enter().isOnLoop && loop.isCurrent })
        #expect(!loop.enter().isOnLoop)
        #expect(diary.all == ["job", "work"])
        loop.shutdown()
    }

    @Test func `a job that enters again and again is replaced nevertheless`() async throws {
        let lent = try LentLoop()
        let loop = lent.loop
        let (hasBegun, isOver) = (Barrier(), Flag())
        defer { isOver.raise() }
        let task = Task(executorPreference: loop) {
            hasBegun.open()
            while !isOver.isRaised { loop.leave(loop.enter()) }
        }
        _ = await blocking { hasBegun.wait() }
        lent.lookUntilReplaced()
        try await loop.perform {}
        isOver.raise()
        await task.value
        loop.shutdown()
    }

    @Test func `a loop without a monitor is not lent`() async throws {
        try await withLoop { loop in
            let isCurrent = await Task(executorPreference: loop) { () -> Bool in
                loop.lend()
                return loop.isCurrent && loop.takeBack()
            }.value
            #expect(isCurrent)
        }
    }

    @Test func `work goes on while a job blocks, and the job after it`() async throws {
        let lent = try LentLoop()
        let (barrier, diary) = (Barrier(), Diary<String>())
        try await lent.block(on: barrier) { diary.note("blocked") }
        let former = try await handedOver { answer in
            lent.loop.submit { answer(SystemThread.current) }
            lent.lookUntilReplaced()
        }
        diary.note("neighbour")
        #expect(lent.takeovers.withLock { $0 } == 1)
        #expect(lent.monitor.keptThreads == 1)
        barrier.open()
        await until { lent.monitor.keptThreads == 0 }
        #expect(diary.all == ["neighbour", "blocked"])
        #expect(try await lent.loop.perform { SystemThread.current } == former)
        lent.loop.shutdown()
    }

    @Test func `a job that comes back in time keeps the loop`() async throws {
        let lent = try LentLoop()
        let barrier = Barrier()
        let before = try await lent.loop.perform { SystemThread.current }
        for _ in 0..<20 {
            try await lent.block(on: barrier)
            lent.look(times: 1)
            barrier.open()
            #expect(try await lent.loop.perform { SystemThread.current } == before)
        }
        #expect(lent.takeovers.withLock { $0 } == 0)
        lent.loop.shutdown()
    }

    @Test func `what was posted stays in order, before and after another thread has taken over`() async throws {
        let lent = try LentLoop()
        let loop = lent.loop
        let diary = Diary<Int>()
        for round in 0..<20 {
            let barrier = Barrier()
            try await lent.block(on: barrier)
            for number in 0..<50 { loop.submit { diary.note(round * 100 + number) } }
            lent.lookUntilReplaced()
            for number in 50..<100 { loop.submit { diary.note(round * 100 + number) } }
            try await loop.perform {}
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
        let ways = try await lent.block(on: barrier) {
            var ways = [loop.isCurrent, loop.takeBack(), loop.lostSince != nil]
            await until { loop.takeBack() }
            ways += [loop.isCurrent, loop.lostSince == nil]
            return ways
        }
        lent.lookUntilReplaced()
        try await loop.perform {}
        barrier.open()
        #expect(await ways.value == [false, false, true, true, true])
        loop.shutdown()
    }
}
