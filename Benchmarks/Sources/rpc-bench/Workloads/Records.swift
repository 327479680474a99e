// 64 callers send a record and get it back: what coding adds.

import RawEcho
import RemoteProxy
import SampleProtocols

extension Workload {
    static let record = Workload(
        name: "record", summary: "a record there and back, 64 callers",
        goal: Goal("ratio", .atLeast(0.33)),
        kind: .overSockets(
            OverSockets(
                baseline: RawBaseline(way: raw_batched, window: 64, message: Message.record),
                comparison: .callsPerSecond
            ) { site in
                let echo: any Echo = EchoProxy(RPCClient(site.url))
                return try await Callers(count: 64) { _, stint in
                    while stint.goesOn() { try check(await echo.record(.sample).id == Record.sample.id) }
                }.measure(at: site)
            }))
}

extension Record {
    /// The record that is sent, and that the codecs are compared on.
    static let sample = Record(
        id: 4_711, name: "Grace Brewster Hopper", email: "grace.hopper@example.org",
        tags: ["admiral", "compiler", "cobol"], scores: [97.5, 88.25, 91], active: true)
}
