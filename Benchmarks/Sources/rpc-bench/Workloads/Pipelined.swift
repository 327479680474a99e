// 64 callers on one connection: what a call costs when there is always another one to send along.

import RawEcho
import RemoteProxy
import SampleProtocols

extension Workload {
    private static let baseline = RawBaseline(way: raw_batched, window: 64, message: Message.add)

    static let pipelined = Workload(
        name: "pipelined", summary: "add, 64 callers on the pool, one connection",
        goal: Goal("ratio", .atLeast(0.6)),
        kind: .overSockets(
            OverSockets(baseline: baseline, comparison: .callsPerSecond) { site in
                let calculator: any Calculator = CalculatorProxy(RPCClient(site.url))
                return try await Callers(count: 64) { _ in
                    try check(await calculator.add(1_000, 24) == 1_024)
                }.measure(at: site)
            }))

    static let pipelinedOnLoop = Workload(
        name: "pipelined-onloop", summary: "add, 64 callers on the connection's loop",
        goal: Goal("ratio", .atLeast(0.7)),
        kind: .overSockets(
            OverSockets(baseline: baseline, comparison: .callsPerSecond) { site in
                let client = RPCClient(site.url)
                let calculator: any Calculator = CalculatorProxy(client)
                return try await Callers(count: 64, executor: client.executor) { _ in
                    try check(await calculator.add(1_000, 24) == 1_024)
                }.measure(at: site)
            }))
}
