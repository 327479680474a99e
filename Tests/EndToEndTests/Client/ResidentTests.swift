// Callers whose tasks prefer the loop of their connection.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

/// Calls from where it belongs, whichever thread that is.
private actor Clerk {
    func work(with calculator: any Calculator) async throws {
        for number in 0..<20 {
            try #require(await calculator.add(number, 1) == number + 1)
            preconditionIsolated()
        }
    }
}

@Suite(.waitsForOthers) struct `A caller on the loop` {
    @Test func `is there again after its call, whatever became of that`() async throws {
        try await withServer { url in
            let (client, loop) = try makeClient(url)
            defer { loop.shutdown() }
            let calculator: any Calculator = CalculatorProxy(client)
            try await Task(executorPreference: loop) {
                for number in 0..<50 {
                    #expect(isResident(of: loop))
                    try #require(await calculator.add(number, 1) == number + 1)
                    #expect(isResident(of: loop))
                    await #expect(throws: ArithmeticFailure.divisionByZero) {
                        try await calculator.divide(number, by: 0)
                    }
                }
            }.value
        }
    }

    @Test func `is there after calls that take long, and when it is cancelled`() async throws {
        try await withServer { url in
            let (client, loop) = try makeClient(url)
            defer { loop.shutdown() }
            let echo = EchoProxy(client)
            let (hasBegun, end) = AsyncStream.makeStream(of: Never.self)
            let task = Task(executorPreference: loop) {
                try #require(await echo.later("late", afterMilliseconds: 20) == "late")
                #expect(isResident(of: loop))
                end.finish()
                await #expect(throws: CancellationError.self) {
                    try await echo.later("never", afterMilliseconds: 600_000)
                }
                #expect(isResident(of: loop))
            }
            for await _ in hasBegun {}
            task.cancel()
            try await task.value
        }
    }

    @Test func `is on its actor if it has one, and goes on elsewhere behind what it prefers no more`() async throws {
        try await withServer { url in
            let (client, loop) = try makeClient(url)
            defer { loop.shutdown() }
            let calculator: any Calculator = CalculatorProxy(client)
            let clerk = Clerk()
            try await Task(executorPreference: loop) { try await clerk.work(with: calculator) }.value
            try await withTaskExecutorPreference(loop) { try #require(await calculator.add(1, 1) == 2) }
            #expect(!isResident(of: loop))
        }
    }

    @Test func `that others have begun there goes to the pool`() async throws {
        try await withServer { url in
            let (client, loop) = try makeClient(url)
            defer { loop.shutdown() }
            let calculator: any Calculator = CalculatorProxy(client)
            try await Task(executorPreference: loop) {
                let guest = Task.immediate {
                    for number in 0..<20 {
                        try #require(await calculator.add(number, 1) == number + 1)
                        #expect(!isResident(of: loop))
                    }
                }
                try #require(await calculator.add(1, 1) == 2)
                #expect(isResident(of: loop))
                try await guest.value
            }.value
        }
    }

    /// A client with a loop of its own, whose monitor looks only when it is told to. On a busy machine another thread might take
    /// the loop over otherwise, and the caller would not be on it.
    private func makeClient(_ url: Endpoint) throws -> (RPCClient, EventLoop) {
        let loop = try EventLoop(
            name: "resident", monitor: HandoffMonitor(maximumBlockedThreads: 64, looksBySelf: false))
        let configuration = RPCClient.Configuration.patient
        let dialer = Dialer.to(url, configuration, on: loop)
        return (RPCClient(dialer, configuration), loop)
    }
}

/// Whether the calling code is a task's that prefers the loop.
private func isResident(of loop: EventLoop) -> Bool {
    let visit = loop.enter()
    defer { loop.leave(visit) }
    return visit.isResident
}
