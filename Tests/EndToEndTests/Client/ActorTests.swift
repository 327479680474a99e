// Callers that belong to an actor.

import Protocols
import RPCServer
import RemoteProxy
import Subjects
import TestSupport
import Testing

/// Calls from where it belongs, and looks after each call whether it is there.
private actor Clerk {
    private func fail(_ call: () async throws -> Int) async {
        do { Issue.record("\(try await call()) by nothing") } catch { preconditionIsolated() }
    }

    func work(with calculator: CalculatorProxy, _ seen: any Calculator) async throws {
        for number in 0..<20 {
            try #require(await calculator.add(number, 1) == number + 1)
            preconditionIsolated()
            try #require(await seen.add(number, 1) == number + 1)
            preconditionIsolated()
            await fail { try await calculator.divide(number, by: 0) }
            await fail { try await seen.divide(number, by: 0) }
        }
    }
}

@Suite(.waitsForOthers) struct `A caller on an actor` {
    @Test(arguments: Medium.withTLS)
    func `is back there, whatever became of its call`(over medium: Medium) async throws {
        try await withServer(over: medium) { url in
            let client = RPCClient(url, .patient)
            let (remote, local) = (CalculatorProxy(client), CalculatorProxy(CheckedCalculator()))
            try await Clerk().work(with: remote, remote)
            try await Clerk().work(with: remote.observed { _ in }, remote)
            try await Clerk().work(with: local, local.observed { _ in })
        }
    }

    @Test(arguments: Medium.withTLS) @MainActor
    func `which may be the main one`(over medium: Medium) async throws {
        try await withServer(over: medium) { @MainActor url in
            let calculator = CalculatorProxy(RPCClient(url, .patient))
            for number in 0..<20 {
                try #require(await calculator.add(number, 1) == number + 1)
                MainActor.preconditionIsolated()
                do {
                    Issue.record("\(try await calculator.divide(number, by: 0)) by nothing")
                } catch {
                    MainActor.preconditionIsolated()
                }
            }
        }
    }

    /// Those of the main one look for their answers themselves, as long as they are alone.
    @Test(arguments: Medium.withTLS) @MainActor
    func `goes on while others call too, here and there`(over medium: Medium) async throws {
        try await withServer(over: medium) { @MainActor url in
            let client = RPCClient(url, .patient)
            let calculator = CalculatorProxy(client)
            for round in 0..<10 {
                for number in 0..<50 { try #require(await calculator.add(number, round) == number + round) }
                try await withThrowingTaskGroup { group in
                    for executor in [nil, client.executor] {
                        group.addTask(executorPreference: executor) {
                            for number in 0..<20 { try #require(await calculator.add(number, 2) == number + 2) }
                        }
                    }
                    for number in 0..<50 { try #require(await calculator.add(number, 1) == number + 1) }
                    try await group.waitForAll()
                }
            }
        }
    }
}
