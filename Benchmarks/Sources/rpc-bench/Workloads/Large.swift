// A text of 1 MiB there and back, one at a time: what a byte costs.

import RawEcho
import RemoteProxy
import SampleProtocols

extension Workload {
    private static let size = 1_048_576

    static let large = Workload(
        name: "large", summary: "a text of 1 MiB there and back, one at a time",
        goal: Goal("ratio", .atLeast(0.4)),
        kind: .overSockets(
            OverSockets(
                baseline: RawBaseline(way: raw_blocking, message: Message.text(size)), comparison: .callsPerSecond
            ) { site in
                let echo: any Echo = EchoProxy(RPCClient(site.url))
                let text = String(repeating: "x", count: size)
                return try await Callers(count: 1) { _ in
                    try check(await echo.text(text).utf8.count == size)
                }.measure(at: site)
            }))
}
