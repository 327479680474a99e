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

    /// Beside it stand two ends that never sleep. What a caller on the loop gets of it is told as well.
    static let sequentialAdaptive = Workload(
        name: "sequential-adaptive", summary: "add, one at a time, both ends spinning while it pays",
        goal: Goal("ratio", .atMost(1.25)),
        kind: .overSockets(
            OverSockets(
                baseline: RawBaseline(way: raw_spinning, message: Message.add), comparison: .medianLatency,
                isServerSpinning: true
            ) { site in
                var configuration = RPCClient.Configuration()
                configuration.adaptiveSpinning = true
                let client = RPCClient(site.url, configuration)
                let calculator: any Calculator = CalculatorProxy(client)
                let add: @Sendable (Int, inout Stint) async throws -> Void = { _, stint in
                    while stint.goesOn() { try check(await calculator.add(1_000, 24) == 1_024) }
                }
                var figures = try await Callers(count: 1, calls: add).measure(at: site)
                let onLoop = Callers(count: 1, executor: client.executor, calls: add)
                figures["onloop_p50_us"] = try await onLoop.measure(at: site)["p50_us"]
                return figures
            }))
}
