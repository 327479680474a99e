// Callers on the pool that go on at the loop which has brought their answers, and whatever else the loop has to do meanwhile.

import Protocols
import RPCServer
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

/// A server, and a loop of their own for its clients.
private struct HospitableLoop {
    /// Looks only when it is told to.
    let watch: LoopWatch
    let loop: EventLoop
    let server = RPCServer()
    let url: String

    init(
        _ backend: EventLoop.Backend = .best, spins: Bool = false, eachEarns earned: Duration = .seconds(1)
    ) async throws {
        watch = LoopWatch(maximumBlockedThreads: 64)
        // On a busy machine answers come late, and guests are kept from going.
        let hospitality = Hospitality(earned: earned, longestLull: .seconds(3_600))
        loop = try EventLoop(
            name: "hospitable", backend: backend, spins: spins, watch: watch, hospitality: hospitality)
        server.export(CalculatorProxy(CheckedCalculator()))
        server.export(EchoProxy(PlainEcho()))
        server.export(CounterProxy(SharedCounter()))
        url = try await server.listen(on: "tcp://127.0.0.1:0")
    }

    func client() -> RPCClient {
        let configuration = RPCClient.Configuration.patient
        return RPCClient(
            .socket(url, configuration.connectTimeout, configuration.streamLimits, on: loop), configuration)
    }

    /// Calls until the caller is a guest.
    func call(_ calculator: CalculatorProxy) async throws {
        let thread = await loop.perform { SystemThread.current }
        repeat {
            #expect(try await calculator.add(1, 2) == 3)
        } while SystemThread.current != thread && !Task.isCancelled
    }

    func end() async {
        await server.stop()
        loop.shutdown()
    }
}

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

@Suite(.waitsForOthers) struct `A caller on the pool` {
    @Test(arguments: EventLoop.Backend.allCases, [false, true])
    func `goes on where its answers come in`(_ backend: EventLoop.Backend, _ spins: Bool) async throws {
        let place = try await HospitableLoop(backend, spins: spins)
        let calculator = CalculatorProxy(place.client())
        for number in 0..<1_000 { #expect(try await calculator.add(number, 1) == number + 1) }
        try await place.call(calculator)
        await place.end()
    }

    @Test func `is on the pool, whoever asks, and back there once it has suspended`() async throws {
        let place = try await HospitableLoop()
        let calculator = CalculatorProxy(place.client())
        let thread = await place.loop.perform { SystemThread.current }
        for _ in 0..<10 {
            try await place.call(calculator)
            #expect(withUnsafeCurrentTask { $0?.unownedTaskExecutor == nil })
            #expect(!place.loop.isCurrent)
            await until { SystemThread.current != thread }
        }
        await place.end()
    }

    @Test func `that blocks is in nobody's way, not even when it waits for another's answer`() async throws {
        let place = try await HospitableLoop()
        let client = place.client()
        let calculator = CalculatorProxy(client)
        try await place.call(calculator)
        let (hasAnswer, isOver) = (Barrier(), Lock(false))
        async let looks = blocking {
            while !isOver.withLock({ $0 }) { place.watch.look() }
        }
        let neighbour = Task.detached {
            defer { hasAnswer.open() }
            let thread = await place.loop.perform { SystemThread.current }
            for _ in 0..<10 {
                let text = try await EchoProxy(client).text("neighbour")
                #expect(text == "neighbour")
                // As long as a guest is kept there are no others: nobody might go on for the next.
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

    @Test func `that keeps the thread and then goes without a call is a guest no more`() async throws {
        let place = try await HospitableLoop(eachEarns: .microseconds(10))
        let calculator = CalculatorProxy(place.client())
        let thread = await place.loop.perform { SystemThread.current }
        try await place.call(calculator)
        while SystemThread.current == thread, !Task.isCancelled {
            let end = MonotonicClock.now.advanced(by: .microseconds(1_500))
            while MonotonicClock.now < end {}
            await Task.yield()
            #expect(try await calculator.add(1, 2) == 3)
        }
        await place.end()
    }

    @Test func `has what is bound to its task`() async throws {
        let place = try await HospitableLoop()
        let calculator = CalculatorProxy(place.client())
        try await withTimeout(.seconds(3_000)) {
            let deadline = try #require(Deadline.current)
            try await place.call(calculator)
            #expect(Deadline.current == deadline)
        }
        await place.end()
    }

    @Test func `on an actor stays on it`() async throws {
        let place = try await HospitableLoop()
        let caller = CallingActor(calculator: CalculatorProxy(place.client()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 { group.addTask { try await caller.add(number) } }
            try await group.waitForAll()
        }
        #expect(await caller.sum == 120 * 20)
        await place.end()
    }

    @Test func `leaves the answers of others to them`() async throws {
        let place = try await HospitableLoop()
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
        let place = try await HospitableLoop()
        let client = place.client()
        try await place.call(CalculatorProxy(client))
        let echo = EchoProxy(client)
        #expect(try await echo.later("late", afterMilliseconds: 20) == "late")
        try await place.call(CalculatorProxy(client))
        await place.end()
    }

    @Test func `hears of its deadline and of its cancellation`() async throws {
        let place = try await HospitableLoop()
        let client = place.client()
        let echo = EchoProxy(client)
        for _ in 0..<5 {
            try await place.call(CalculatorProxy(client))
            let error = await #expect(throws: RPCError.self) {
                _ = try await withTimeout(.milliseconds(2)) { try await echo.later("late", afterMilliseconds: 60_000) }
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
        let place = try await HospitableLoop()
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
        let place = try await HospitableLoop()
        let client = place.client()
        var states = client.states.makeAsyncIterator()
        try await place.call(CalculatorProxy(client))
        while let state = await states.next(), state != .connected {}
        await place.server.stop()
        while let state = await states.next(), state == .connected {}
        client.close()
        place.loop.shutdown()
    }
}

@Suite(.waitsForOthers) struct `Callers that share a connection` {
    @Test(arguments: EventLoop.Backend.allCases, [false, true])
    func `are all answered, however long each goes on`(_ backend: EventLoop.Backend, _ spins: Bool) async throws {
        let place = try await HospitableLoop(backend, spins: spins)
        let client = place.client()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<24 {
                let calculator = CalculatorProxy(client)
                group.addTask {
                    // Fewer and fewer call again, at last one alone.
                    try await Self.add(caller, 0..<(5 << (caller % 6)), to: calculator)
                }
            }
            try await group.waitForAll()
        }
        try await place.call(CalculatorProxy(client))
        await place.end()
    }

    @Test func `are answered when others go away between, or call once and never again`() async throws {
        let place = try await HospitableLoop()
        let client = place.client()
        let (calculator, echo) = (CalculatorProxy(client), EchoProxy(client))
        for round in 0..<20 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<12 {
                    group.addTask {
                        let sum = try await calculator.add(round, caller)
                        #expect(sum == round + caller)
                    }
                }
                let late = Task { try await echo.later("late", afterMilliseconds: 60_000) }
                for caller in 0..<4 {
                    group.addTask {
                        try await Self.add(caller, 0..<10, to: calculator)
                        late.cancel()
                    }
                }
                group.addTask { await #expect(throws: CancellationError.self) { try await late.value } }
                try await group.waitForAll()
            }
        }
        await place.end()
    }

    @Test func `are answered beside those of other connections, and where somebody else runs`() async throws {
        let place = try await HospitableLoop()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                let client = place.client()
                let calculator = CalculatorProxy(client)
                for caller in 0..<9 {
                    let executor: (any TaskExecutor)? = caller % 3 == 0 ? client.executor : nil
                    group.addTask(executorPreference: executor) {
                        try await Self.add(caller, 0..<100, to: calculator)
                    }
                    group.addTask { try await Self.addOnActor(caller, 0..<10, to: calculator) }
                }
            }
            try await group.waitForAll()
        }
        await place.end()
    }

    @Test func `hear that their client is closed, those who rely on another to write too`() async throws {
        let place = try await HospitableLoop()
        let client = place.client()
        let calculator = CalculatorProxy(client)
        #expect(try await calculator.add(1, 2) == 3)
        let answered = Lock(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    while (try? await calculator.add(1, 2)) == 3 { answered.withLock { $0 += 1 } }
                }
            }
            group.addTask {
                await until { answered.withLock { $0 > 200 } }
                client.close()
            }
        }
        await place.end()
    }

    @MainActor
    private static func addOnActor(_ caller: Int, _ numbers: Range<Int>, to calculator: CalculatorProxy) async throws {
        try await add(caller, numbers, to: calculator)
    }

    private static func add(_ caller: Int, _ numbers: Range<Int>, to calculator: CalculatorProxy) async throws {
        for number in numbers {
            let sum = try await calculator.add(number, caller)
            #expect(sum == number + caller)
        }
    }
}
