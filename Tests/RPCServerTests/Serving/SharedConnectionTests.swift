// Many callers on the pool behind one connection: all are answered, whoever else comes and goes.

import Protocols
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Callers that share a connection` {
    @Test func `are all answered, however long each goes on`() async throws {
        let place = try await HostingLoop()
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
        let place = try await HostingLoop()
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
        let place = try await HostingLoop()
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
        let place = try await HostingLoop()
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
