// Eight connections with 16 callers each: what many clients cost one server thread.

import RawEcho
import RemoteProxy
import SampleProtocols

extension Workload {
    static let fanout = Workload(
        name: "fanout", summary: "add, 8 connections with 16 callers each",
        goal: Goal("ratio", .atLeast(0.4)),
        kind: .overSockets(
            OverSockets(
                baseline: RawBaseline(way: raw_batched, connections: 8, window: 16, message: Message.add),
                comparison: .callsPerSecond
            ) { site in
                let calculators: [any Calculator] = (0..<8).map { _ in CalculatorProxy(RPCClient(site.url)) }
                return try await Callers(count: 8 * 16) { caller in
                    try check(await calculators[caller % 8].add(1_000, 24) == 1_024)
                }.measure(at: site)
            }))
}
