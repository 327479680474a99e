// A text there and back, one at a time: what a byte costs.

import RawEcho
import RemoteProxy
import SampleProtocols

extension Workload {
    static let large = Workload(
        name: "large", summary: "a text of 1 MiB there and back, one at a time",
        goal: Goal("ratio", .atLeast(0.4)), kind: .overSockets(.echoing(bytes: 1_048_576)))
}

extension OverSockets {
    /// `Echo.text` of so many bytes, one at a time.
    static func echoing(bytes: Int) -> OverSockets {
        OverSockets(
            baseline: RawBaseline(way: raw_blocking, message: Message.text(bytes)), comparison: .callsPerSecond
        ) { site in
            let echo: any Echo = EchoProxy(RPCClient(site.url))
            let text = String(repeating: "x", count: bytes)
            return try await Callers(count: 1) { _, stint in
                while stint.goesOn() { try check(await echo.text(text).utf8.count == bytes) }
            }.measure(at: site)
        }
    }
}
