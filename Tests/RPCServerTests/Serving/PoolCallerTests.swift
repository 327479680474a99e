// Callers on the pool that go on at the loop which has brought their answers, and whatever else the loop has to do meanwhile.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

private actor CallingActor {
    let calculator: CalculatorProxy
    var sum = 0

    init(calculator: CalculatorProxy) { self.calculator = calculator }

    func add(_ number: Int) async throws {
        for _ in 0..<20 {
            let more = try await calculator.add(number, 0)
            preconditionIsolated()
            sum += more
        }
    }
}

@Suite(.waitsForOthers, .enabled(if: canHost)) struct `A caller on the pool` {
    @Test func `goes on where its answers come in`() async throws {
        let place = try await HostingLoop()
        let calculator = CalculatorProxy(place.client())
        for number in 0..<1_000 { #expect(try await calculator.add(number, 1) == number + 1) }
        try await place.call(calculator)
        await place.end()
    }

    @Test func `is on the pool, whoever asks, and back there once it has suspended`() async throws {
        let place = try await HostingLoop()
        let calculator = CalculatorProxy(place.client())
        let thread = try await place.loop.perform { SystemThread.current }
        for _ in 0..<10 {
            try await place.call(calculator)
            #expect(withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil })
            #expect(!place.loop.isCurrent)
            await until { SystemThread.current != thread }
        }
        await place.end()
    }

    @Test func `that blocks is in nobody's way, not even when it waits for another's answer`() async throws {
        let place = try await HostingLoop()
        let client = place.client()
        let calculator = CalculatorProxy(client)
        try await place.call(calculator)
        let (hasAnswer, isOver) = (Barrier(), Lock(false))
        async let looks = blocking {
            while !isOver.withLock({ $0 }) { place.loop.look() }
        }
        let neighbour = Task.detached {
            defer { hasAnswer.open() }
            let thread = try await place.loop.perform { SystemThread.current }
            for _ in 0..<10 {
                let text = try await EchoProxy(client).text("neighbour")
                #expect(text == "neighbour")
                // As long as a hosted job is kept no other is hosted: no thread could take over from the next.
                #expect(SystemThread.current != thread)
            }
        }
        hasAnswer.wait()
        isOver.withLock { $0 = true }
        try await neighbour.value
        #expect(try await calculator.add(1, 2) == 3)
        _ = await looks
        await place.end()
    }

    @Test func `goes on elsewhere where nobody might go on for it`() async throws {
        let place = try await HostingLoop(maximumBlockedThreads: 0)
        let calculator = CalculatorProxy(place.client())
        let thread = try await place.loop.perform { SystemThread.current }
        for number in 0..<200 {
            #expect(try await calculator.add(number, 1) == number + 1)
            #expect(SystemThread.current != thread)
        }
        await place.end()
    }

    @Test func `that keeps the thread and then goes without a call is hosted no more`() async throws {
        let place = try await HostingLoop(eachEarns: .microseconds(10))
        let calculator = CalculatorProxy(place.client())
        let thread = try await place.loop.perform { SystemThread.current }
        try await place.call(calculator)
        while SystemThread.current == thread, !Task.isCancelled {
            let end = MonotonicClock.now.advanced(by: .microseconds(1_500))
            while MonotonicClock.now < end {}
            await Task.yield()
            #expect(try await calculator.add(1, 2) == 3)
        }
        await place.end()
    }

    @Test func `that takes long keeps others waiting, but timers and sockets for no more than eight`() async throws {
        let place = try await HostingLoop()
        let loop = place.loop
        let (gone, goneWhenDue) = (Lock(0), Lock<Int?>(nil))
        try await place.host(16) {
            loop.schedule(at: loop.now) { goneWhenDue.withLock { $0 = gone.withLock { $0 } } }
        } each: {
            let end = MonotonicClock.now.advanced(by: .microseconds(1_500))
            while MonotonicClock.now < end {}
            gone.withLock { $0 += 1 }
        }
        await until { goneWhenDue.withLock { $0 } != nil }
        // None on a busy machine, where the timer may be due before the first of them has begun.
        #expect((0...8).contains(goneWhenDue.withLock { $0 } ?? .max))
        await place.end()
    }

    @Test func `has what is bound to its task`() async throws {
        let place = try await HostingLoop()
        let calculator = CalculatorProxy(place.client())
        try await withCallTimeout(.seconds(3_000)) {
            let deadline = try #require(Deadline.current)
            try await place.call(calculator)
            #expect(Deadline.current == deadline)
        }
        await place.end()
    }

    @Test func `on an actor stays on it`() async throws {
        let place = try await HostingLoop()
        let caller = CallingActor(calculator: CalculatorProxy(place.client()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 { group.addTask { try await caller.add(number) } }
            try await group.waitForAll()
        }
        #expect(await caller.sum == 120 * 20)
        await place.end()
    }

    @Test func `leaves the answers of others to them`() async throws {
        let place = try await HostingLoop()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                let calculator = CalculatorProxy(place.client())
                group.addTask {
                    for number in 0..<300 {
                        let sum = try await calculator.add(number, 1)
                        #expect(sum == number + 1)
                    }
                }
            }
            try await group.waitForAll()
        }
        await place.end()
    }

    @Test func `does not wait for what takes long`() async throws {
        let place = try await HostingLoop()
        let client = place.client()
        try await place.call(CalculatorProxy(client))
        let echo = EchoProxy(client)
        #expect(try await echo.later("late", afterMilliseconds: 20) == "late")
        try await place.call(CalculatorProxy(client))
        await place.end()
    }

    @Test func `hears of its deadline and of its cancellation`() async throws {
        let place = try await HostingLoop()
        let client = place.client()
        let echo = EchoProxy(client)
        for _ in 0..<5 {
            try await place.call(CalculatorProxy(client))
            let error = await #expect(throws: RPCError.self) {
                _ = try await withCallTimeout(.milliseconds(2)) {
                    try await echo.later("late", afterMilliseconds: 60_000)
                }
            }
            #expect(error?.code == .deadlineExceeded)
            try await place.call(CalculatorProxy(client))
            let call = Task { try await echo.later("late", afterMilliseconds: 60_000) }
            call.cancel()
            await #expect(throws: CancellationError.self) { try await call.value }
        }
        await place.end()
    }

    @Test func `does not keep the loop from its work, nor timers from being due`() async throws {
        let place = try await HostingLoop()
        let calculator = CalculatorProxy(place.client())
        for _ in 0..<50 {
            try await place.call(calculator)
            await withCheckedContinuation { done in place.loop.submit { done.resume() } }
            try await place.call(calculator)
            await withCheckedContinuation { done in
                place.loop.schedule(at: place.loop.now.advanced(by: .microseconds(100))) { done.resume() }
            }
        }
        await place.end()
    }

    @Test func `is told when the server goes away, as everybody`() async throws {
        let place = try await HostingLoop()
        let client = place.client()
        var states = client.states.makeAsyncIterator()
        try await place.call(CalculatorProxy(client))
        while let state = await states.next(isolation: nil), state != .connected(resumed: false) {}
        await place.server.stop()
        while let state = await states.next(isolation: nil), state == .connected(resumed: false) {}
        client.close()
        place.loop.shutdown()
    }
}
