// One call at a time: order, deadlines, cancellation, posts, and a subject that calls itself.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.waitsForOthers) struct `A locked subject` {
    private let loop: ManualLoop
    private let workshop: BusyWorkshop
    private let proxy: WorkshopProxy

    init() { (loop, workshop, proxy) = BusyWorkshop.locked() }

    @Test func `takes one call at a time, in the order in which they came`() throws {
        try loop.complete { [proxy] in
            try await withThrowingTaskGroup { group in
                for name in ["a", "b", "c"] { group.addTask { _ = try await proxy.work(name, milliseconds: 5) } }
                try await group.waitForAll()
            }
        }
        #expect(workshop.log == ["a in", "a out", "b in", "b out", "c in", "c out"])
    }

    @Test func `gets the turn back of a post that finds no room when its turn has come`() async throws {
        let lock = SubjectLock(.oneAtATime, clock: loop)
        let turn = try await lock.enter(.changing)
        let why = lock.post(now: nil) { () throws(NotKept) in
            lock.leave(turn)
            throw NotKept(.maximumBytesInFlight)
        }
        #expect(why?.contains("maximumBytesInFlight") == true)
        let hasRun = Lock(false)
        #expect(lock.post(now: { hasRun.withLock { $0 = true } }) { () throws(NotKept) in {} } == nil)
        #expect(hasRun.withLock { $0 })
    }

    @Test func `turns a call away when its deadline comes first, and it has not run`() throws {
        let error = try loop.complete { [loop, proxy] in
            async let long = proxy.work("long", milliseconds: 50)
            try await loop.sleep(for: .milliseconds(1))
            let error = await loop.within(milliseconds: 10) {
                await failure { try await proxy.work("short of time", milliseconds: 1) }
            }
            #expect(loop.now == Instant(nanoseconds: 11_000_000))
            _ = try await long
            return error
        }
        #expect(error?.code == .deadlineExceeded)
        #expect(error?.outcome == .notExecuted)
        #expect(workshop.log == ["long in", "long out"])
    }

    @Test func `lets a call without a deadline wait for half a minute`() throws {
        let error = try loop.complete { [loop, proxy] in
            async let long = proxy.work("long", milliseconds: 100_000)
            try await loop.sleep(for: .seconds(1))
            let error = await failure { try await proxy.work("patient", milliseconds: 1) }
            #expect(loop.now == Instant(nanoseconds: 31_000_000_000))
            _ = try await long
            return error
        }
        #expect(error?.outcome == .notExecuted)
    }

    @Test func `lets a cancelled call go at once and the one behind it in`() throws {
        try loop.complete { [loop, proxy] in
            let first = Task(executorPreference: loop) { try await proxy.work("first", milliseconds: 10) }
            let second = Task(executorPreference: loop) { try await proxy.work("second", milliseconds: 10) }
            let third = Task(executorPreference: loop) { try await proxy.work("third", milliseconds: 10) }
            try await loop.sleep(for: .milliseconds(5))
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            #expect(loop.now == Instant(nanoseconds: 5_000_000))
            _ = try await (first.value, third.value)
        }
        #expect(workshop.log == ["first in", "first out", "third in", "third out"])
    }

    @Test(arguments: [true, false])
    func `is free again when a call gives up in the moment in which its turn comes`(beforeIt: Bool) throws {
        let second = Lock<Task<Void, any Error>?>(nil)
        let proxy = CrowdProxy(
            Visitor(loop) { [loop] visit in
                guard visit == 1 else { return }
                let giveUp: @Sendable () -> Void = { second.withLock { $0 }?.cancel() }
                // Either way the task of the second call runs after both: its turn and its cancellation.
                if beforeIt { giveUp() } else { loop.submit(giveUp) }
            }
        ).locked(clock: loop)
        try loop.complete { [loop] in
            let first = Task(executorPreference: loop) { try await proxy.visit() }
            second.withLock { $0 = Task(executorPreference: loop) { try await proxy.visit() } }
            try await first.value
            let task = second.withLock { $0 }
            await #expect(throws: CancellationError.self) { try await task?.value }
            try await proxy.visit()
            #expect(loop.now == Instant(nanoseconds: 2_000_000))
        }
    }

    @Test func `tells a subject that calls itself through its own lock`() throws {
        workshop.proxy = proxy
        defer { workshop.proxy = nil }
        let error = try loop.complete { [proxy] in await failure { try await proxy.delegate("one") } }
        #expect(error?.code == .busy)
        #expect(error?.outcome == .executed, "the call ran; the one that it made in turn did not")
        #expect(workshop.log == ["one delegates"])
        let next = try loop.complete { [proxy] in try await proxy.work("next", milliseconds: 1) }
        #expect(next == "next")
    }

    @Test func `hands the errors of the subject on and is free again`() throws {
        #expect(throws: CancellationError.self) {
            try loop.complete { [proxy] in
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await proxy.work("cancelled", milliseconds: 1)
            }
        }
        let next = try loop.complete { [proxy] in try await proxy.work("next", milliseconds: 1) }
        #expect(next == "next")
    }

    @Test func `lets those that only read in together, and one that changes in between, alone`() throws {
        let proxy = WorkshopProxy(workshop).locked(.readersTogether, clock: loop)
        try loop.complete {
            try await withThrowingTaskGroup { group in
                for name in ["a", "b"] { group.addTask { _ = try await proxy.look(name, milliseconds: 5) } }
                group.addTask { _ = try await proxy.work("c", milliseconds: 5) }
                for name in ["d", "e"] { group.addTask { _ = try await proxy.look(name, milliseconds: 5) } }
                try await group.waitForAll()
            }
        }
        let order = ["a in", "b in", "a out", "b out", "c in", "c out", "d in", "e in", "d out", "e out"]
        #expect(workshop.log == order)
    }

    @Test func `lets a reader in at once when the writer before it gives up`() throws {
        let proxy = WorkshopProxy(workshop).locked(.readersTogether, clock: loop)
        try loop.complete { [loop] in
            async let long = proxy.look("long", milliseconds: 50)
            try await loop.sleep(for: .milliseconds(1))
            async let writer = loop.within(milliseconds: 10) {
                await failure { try await proxy.work("writer", milliseconds: 1) }
            }
            try await loop.sleep(for: .milliseconds(1))
            _ = try await proxy.look("reader", milliseconds: 1)
            #expect(loop.now == Instant(nanoseconds: 12_000_000))
            let error = await writer
            #expect(error?.code == .deadlineExceeded)
            _ = try await long
        }
    }

    @Test func `takes as many calls at a time as it is told, in their order, and one that holds it alone`() throws {
        let proxy = WorkshopProxy(workshop).locked(.atMost(2), clock: loop)
        try loop.complete { [loop] in
            async let first = proxy.work("a", milliseconds: 5)
            async let second = proxy.work("b", milliseconds: 7)
            async let third = proxy.work("c", milliseconds: 5)
            try await loop.sleep(for: .milliseconds(1))
            async let alone = proxy.exclusively { try await proxy.work("alone", milliseconds: 5) }
            try await loop.sleep(for: .milliseconds(1))
            async let last = proxy.work("last", milliseconds: 1)
            _ = try await (first, second, third, alone, last)
        }
        #expect(
            workshop.log == [
                "a in", "b in", "a out", "c in", "b out", "c out", "alone in", "alone out", "last in", "last out",
            ])
    }

    @Test func `takes one reader at a time like any other call unless told otherwise`() throws {
        try loop.complete { [proxy] in
            async let one = proxy.look("one", milliseconds: 5)
            async let two = proxy.look("two", milliseconds: 5)
            _ = try await (one, two)
        }
        #expect(workshop.log == ["one in", "one out", "two in", "two out"])
    }

    @Test func `takes a post at once when it is free`() {
        proxy.note("now")
        #expect(workshop.log == ["now"])
    }

    @Test func `keeps posts in their order behind the call that runs, and calls behind the posts`() async throws {
        let loop = loop
        let running = Task { [proxy] in try await proxy.work("call", milliseconds: 5) }
        await until { !workshop.log.isEmpty }
        for number in 1...100 { proxy.note("post \(number)") }
        let behind = Task { [proxy] in try await proxy.work("behind", milliseconds: 0) }
        #expect(workshop.log == ["call in"])
        loop.advance(by: .milliseconds(5))
        _ = try await running.value
        await until { workshop.log.contains("behind in") }
        loop.advance(by: .milliseconds(5))
        _ = try await behind.value
        let posts = (1...100).map { "post \($0)" }
        #expect(workshop.log == ["call in", "call out"] + posts + ["behind in", "behind out"])
    }

    @Test func `keeps no more posts than it may`() async throws {
        var locking = LockPolicy.oneAtATime
        locking.maximumKeptPosts = 2
        let proxy = WorkshopProxy(workshop).locked(locking, clock: loop)
        let running = Task { try await proxy.work("call", milliseconds: 5) }
        await until { !workshop.log.isEmpty }
        for number in 1...3 { proxy.note("post \(number)") }
        loop.advance(by: .milliseconds(5))
        _ = try await running.value
        await until { workshop.log.contains("post 2") }
        while workshop.log.count < 5, !Task.isCancelled {
            proxy.note("later")
            await Task.yield()
        }
        #expect(workshop.log.prefix(5) == ["call in", "call out", "post 1", "post 2", "later"])
    }

    @Test(.hasTime) func `has never two inside, whoever calls from wherever, and whoever gives up`() async throws {
        let subject = CrowdCounter()
        let proxy = CrowdProxy(subject).locked()
        let given = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    let call = Task { try await proxy.visit() }
                    if number.isMultiple(of: 3) { call.cancel() }
                    return (try? await call.value) != nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(subject.most == 1)
        #expect(subject.visits == given)
        #expect(given >= 666)
    }
}

@Service
protocol Crowd: Sendable {
    func visit() async throws
}

/// Stays for a millisecond, and then does as it is told; the visits are numbered.
struct Visitor: Crowd {
    private let loop: ManualLoop
    private let visits = Lock(0)
    private let leave: @Sendable (Int) -> Void

    init(_ loop: ManualLoop, _ leave: @escaping @Sendable (_ visit: Int) -> Void) {
        (self.loop, self.leave) = (loop, leave)
    }

    func visit() async throws {
        let visit = visits.withLock { visits in
            visits += 1
            return visits
        }
        try await loop.sleep(for: .milliseconds(1))
        leave(visit)
    }
}

/// Counts who is inside, and loses no visit.
final class CrowdCounter: Crowd {
    private let state = Lock((inside: 0, most: 0, visits: 0))

    var most: Int { state.withLock { $0.most } }
    var visits: Int { state.withLock { $0.visits } }

    func visit() async throws {
        state.withLock { state in
            state.inside += 1
            state.most = max(state.most, state.inside)
        }
        await Task.yield()
        state.withLock { state in
            state.inside -= 1
            state.visits += 1
        }
    }
}
