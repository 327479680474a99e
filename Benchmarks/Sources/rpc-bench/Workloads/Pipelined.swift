// Callers on one connection or several: what a call costs when there is always another one to send along.

import RawEcho
import RemoteProxy
import SampleProtocols

extension Workload {
    static let pipelined = Workload(
        name: "pipelined", summary: "add, 64 callers on the pool, one connection",
        goal: Goal("ratio", .atLeast(0.6)), kind: .overSockets(.adding(callers: 64)))

    static let pipelinedOnLoop = Workload(
        name: "pipelined-onloop", summary: "add, 64 callers on the connection's loop",
        goal: Goal("ratio", .atLeast(0.7)), kind: .overSockets(.addingOnLoop(callers: 64)))

    /// What many clients cost one server thread.
    static let fanout = Workload(
        name: "fanout", summary: "add, 8 connections with 16 callers each",
        goal: Goal("ratio", .atLeast(0.4)), kind: .overSockets(.adding(callers: 8 * 16, connections: 8)))
}

extension OverSockets {
    /// `Calculator.add` by callers on the pool that share the connections evenly.
    static func adding(callers: Int, connections: Int = 1) -> OverSockets {
        OverSockets(
            baseline: RawBaseline(
                way: raw_batched, connections: connections, window: callers / connections, message: Message.add),
            comparison: .callsPerSecond
        ) { site in
            let calculators: [any Calculator] = (0..<connections).map { _ in CalculatorProxy(RPCClient(site.url)) }
            return try await Callers(count: callers) { caller, stint in
                let calculator = calculators[caller % connections]
                while stint.goesOn() { try check(await calculator.add(1_000, 24) == 1_024) }
            }.measure(at: site)
        }
    }

    /// The same by callers on the loop of one connection.
    static func addingOnLoop(callers: Int) -> OverSockets {
        OverSockets(
            baseline: RawBaseline(way: raw_batched, window: callers, message: Message.add),
            comparison: .callsPerSecond
        ) { site in
            let client = RPCClient(site.url)
            let calculator: any Calculator = CalculatorProxy(client)
            return try await Callers(count: callers, executor: client.executor) { _, stint in
                while stint.goesOn() { try check(await calculator.add(1_000, 24) == 1_024) }
            }.measure(at: site)
        }
    }
}
