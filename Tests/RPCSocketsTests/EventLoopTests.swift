import RPCWire
import Synchronization
import TestSupport
import Testing

@testable import RPCSockets

/// What happened, in order.
final class Diary<Entry: Sendable>: Sendable {
    private let entries = Lock<[Entry]>([])
    func note(_ entry: Entry) { entries.withLock { $0.append(entry) } }
    var all: [Entry] { entries.withLock { $0 } }
}

@Suite(.waitsForOthers) struct EventLoopTests {
    @Test func `work and jobs run in the order they came`() async throws {
        try await withLoop { loop in
            let diary = Diary<Int>()
            await withCheckedContinuation { continuation in
                loop.submit {
                    loop.submit { diary.note(1) }
                    Task(executorPreference: loop) { diary.note(2) }
                    loop.submit { diary.note(3) }
                    Task(executorPreference: loop) {
                        diary.note(4)
                        continuation.resume()
                    }
                    diary.note(0)
                }
            }
            #expect(diary.all == [0, 1, 2, 3, 4])
        }
    }

    @Test func `what another thread posted first runs first`() async throws {
        try await withLoop { loop in
            for _ in 0..<100 {
                let diary = Diary<Int>()
                let hasPosted = Atomic(false)
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    loop.submit {
                        do {
                            try SystemThread.start(name: "other") {
                                loop.submit { diary.note(1) }
                                hasPosted.store(true, ordering: .releasing)
                            }
                        } catch {
                            return continuation.resume(throwing: error)
                        }
                        while !hasPosted.load(ordering: .acquiring) {}
                        loop.submit {
                            diary.note(2)
                            continuation.resume()
                        }
                    }
                }
                #expect(diary.all == [1, 2])
            }
        }
    }

    @Test func `a task on the loop stays on the loop`() async throws {
        try await withLoop { loop in
            let isOnLoop = await Task(executorPreference: loop) {
                let before = loop.isCurrent
                await Task.yield()
                return before && loop.isCurrent
            }.value
            #expect(isOnLoop)
            #expect(!loop.isCurrent)
        }
    }

    @Test func `no wake-up is lost between threads`() async throws {
        try await withLoop { loop in
            let diary = Diary<Int>()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for thread in 0..<3 {
                    // Each waits for its answer, so that the loop falls asleep over and over.
                    group.addTask { for _ in 0..<2_000 { try await loop.perform { diary.note(thread) } } }
                }
                try await group.waitForAll()
            }
            #expect(diary.all.count == 6_000)
        }
    }

    @Test func `timers fire in the order of their time, and of their setting`() async throws {
        try await withLoop { loop in
            let diary = Diary<Int>()
            let now = loop.now
            await withCheckedContinuation { continuation in
                loop.submit {
                    for (number, delay) in [(3, 9), (1, 3), (4, 9), (2, 6)] {
                        loop.schedule(at: now.advanced(by: .milliseconds(delay))) { diary.note(number) }
                    }
                    loop.schedule(at: now.advanced(by: .milliseconds(5))) { diary.note(-1) }.cancel()
                    loop.schedule(at: now.advanced(by: .milliseconds(12))) { continuation.resume() }
                }
            }
            #expect(diary.all == [1, 2, 3, 4])
            #expect(now.duration(to: loop.now) >= .milliseconds(12))
        }
    }

    @Test func `a timer set from elsewhere wakes a loop that sleeps for longer`() async throws {
        try await withLoop { loop in
            loop.schedule(at: loop.now.advanced(by: .seconds(600))) {}
            try await loop.perform {}
            await withCheckedContinuation { continuation in
                loop.schedule(at: loop.now.advanced(by: .milliseconds(2))) { continuation.resume() }
            }
        }
    }

    @Test func `a timer is on time although the work before it took long`() async throws {
        try await withLoop { loop in
            let passed = try await loop.perform {
                let before = loop.now
                let end = MonotonicClock.now.advanced(by: .milliseconds(5))
                while MonotonicClock.now < end {}
                return before
            }
            // The next piece of work does not inherit the clock of the one before.
            let after = try await loop.perform { loop.now }
            #expect(passed.duration(to: after) >= .milliseconds(5))
        }
    }

    @Test func `work that never ends does not starve the sockets`() async throws {
        try await withLoop { loop in
            let pair = try StreamPair(on: loop)
            let isStopped = Atomic(false)
            EndlessWork(on: loop) { isStopped.load(ordering: .relaxed) }.goOn()
            pair.near.send("still here")
            try await pair.farReceiver.wait { !$0.bytes.isEmpty }
            isStopped.store(true, ordering: .relaxed)
        }
    }

    @Test(.waitsForOthers) func `what the clock said at the last tick is not ahead of it, and follows it`() async {
        let isBehind = (0..<1_000).allSatisfy { _ in MonotonicClock.atLastTick <= MonotonicClock.now }
        #expect(isBehind)
        let now = MonotonicClock.now
        await until { MonotonicClock.atLastTick > now }
    }

    @Test func `a cancelled timer lets go of its work at once`() throws {
        final class Witness: Sendable {}
        let loop = try EventLoop(name: "test")
        var witness: Witness? = Witness()
        weak let trace = witness
        let timer = loop.schedule(at: .distantFuture) { [witness] in _ = witness }
        witness = nil
        #expect(trace != nil)
        timer.cancel()
        #expect(trace == nil)
        loop.shutdown()
    }
}

@Suite(.waitsForOthers) struct TimerHeapTests {
    @Test func `a timer that is looked at again and again is none the heavier for it`() throws {
        let isDone = Lock(false)
        let timer = ScheduledTimer(.distantFuture) { isDone.withLock { $0 = true } }
        for _ in 0..<500_000 where timer.isCancelled { break }
        // Were the work wrapped once for each look, the stack would not do to run it, nor to let it go.
        let work = try #require(timer.takeWork())
        work()
        #expect(isDone.withLock { $0 })
    }

    @Test func `timers come out in order, whatever order they went in`() {
        var heap = TimerHeap()
        for number in 0..<200 {
            heap.insert(ScheduledTimer(Instant(nanoseconds: Int64(number * 73 % 200))) {})
        }
        var found: [Int64] = []
        while let timer = heap.popDue(at: .distantFuture, before: heap.mark) {
            found.append(timer.deadline.nanoseconds)
        }
        #expect(found == Array(0..<200))
    }

    @Test func `cancelled timers do not pile up`() {
        var heap = TimerHeap()
        let living = ScheduledTimer(.distantFuture) {}
        heap.insert(living)
        for _ in 0..<100_000 {
            let timer = ScheduledTimer(.distantFuture) {}
            heap.insert(timer)
            timer.cancel()
        }
        #expect(heap.count < 200)
        #expect(!living.isCancelled)
    }

    /// A heap of every size, each with many arrangements.
    @Test func `timers come out in order when others were removed`() {
        var random = SeededGenerator(seed: 1)
        for left in 1..<128 {
            for _ in 0..<8 {
                var heap = TimerHeap()
                let timers = (0..<128).map { ScheduledTimer(Instant(nanoseconds: $0)) {} }.shuffled(using: &random)
                for timer in timers { heap.insert(timer) }
                for timer in timers.shuffled(using: &random).dropFirst(left) { timer.cancel() }
                heap.insert(ScheduledTimer(Instant(nanoseconds: 128)) {})
                #expect(heap.count == left + 1, "the cancelled ones are removed by now")
                var found: [Int64] = []
                while let timer = heap.popDue(at: .distantFuture, before: heap.mark) {
                    found.append(timer.deadline.nanoseconds)
                }
                let isInOrder = found.count == left + 1 && found == found.sorted()
                #expect(isInOrder, "\(left) are left")
            }
        }
    }

    @Test func `timers that were cancelled on their way to the loop do not wake it`() {
        var heap = TimerHeap()
        heap.insert(ScheduledTimer(.distantFuture) {})
        let late = (0..<100).map { ScheduledTimer(Instant(nanoseconds: $0)) {} }
        for timer in late { timer.cancel() }
        for timer in late { heap.insert(timer) }
        heap.dropCancelledFirst()
        #expect(heap.count == 1)
    }

    @Test func `a timer that sets itself again for now waits for the next turn`() {
        var heap = TimerHeap()
        heap.insert(ScheduledTimer(Instant(nanoseconds: 1)) {})
        let mark = heap.mark
        #expect(heap.popDue(at: Instant(nanoseconds: 5), before: mark) != nil)
        heap.insert(ScheduledTimer(Instant(nanoseconds: 1)) {})
        #expect(heap.popDue(at: Instant(nanoseconds: 5), before: mark) == nil)
        #expect(heap.popDue(at: Instant(nanoseconds: 5), before: heap.mark) != nil)
    }
}

@Suite(.waitsForOthers) struct RegistrationTests {
    private final class Nobody: Selectable {
        func ready(_: Readiness) {}
        func loopWillEnd() {}
    }

    @Test func `an event for a registration that has ended is nobody's, although the slot is in use again`() {
        var registrations = Registrations()
        let first = registrations.insert(Nobody(), descriptor: 7)
        #expect(registrations[first.tag] != nil)
        registrations.remove(first)
        let second = registrations.insert(Nobody(), descriptor: 7)
        #expect(registrations[first.tag] == nil)
        #expect(registrations[second.tag] != nil)
        registrations.remove(first)
        #expect(registrations.count == 1)
        #expect(registrations[.max] == nil)
    }
}
