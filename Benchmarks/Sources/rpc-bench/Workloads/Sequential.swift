// One call at a time by one caller on the ordinary pool: what a call adds to a round trip.

import RawEcho
import RemoteProxy
import SampleProtocols

extension Workload {
    static let sequential = Workload(
        name: "sequential", summary: "add, one at a time",
        goal: Goal("ratio", .atMost(1.05)),
        kind: .overSockets(
            OverSockets(
                baseline: RawBaseline(way: raw_blocking, message: Message.add), comparison: .medianLatency
            ) { site in
                let calculator: any Calculator = CalculatorProxy(RPCClient(site.url))
                return try await Callers(count: 1) { _, stint in
                    while stint.goesOn() { try check(await calculator.add(1_000, 24) == 1_024) }
                }.measure(at: site)
            }))
}
