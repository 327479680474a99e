// L5: one connection sends large messages without pause, another small calls.

import BenchSystem
import RawEcho
import RemoteProxy
import SampleProtocols

extension Scenario {
    static let largeBesideSmall = Scenario(
        name: "L5", summary: "400 kB messages without pause, small calls beside",
        claims: [
            .firm("large", .atLeast(1)), .firm("small", .atLeast(1)), .timed("small_p99_ms", .atMost(20)),
        ]
    ) { site in
        let end = bench_now() + UInt64(site.seconds * 1e9)
        let text = String(repeating: "x", count: 400_000)
        let echo = EchoProxy(RPCClient(site.url))
        async let large = withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var calls = 0
                    while bench_now() < end {
                        try check(await echo.text(text).utf8.count == text.utf8.count)
                        calls += 1
                    }
                    return calls
                }
            }
            return try await group.reduce(0, +)
        }
        let small = try await sequentially(CalculatorProxy(RPCClient(site.url)), until: end)
        var figures = Figures()
        figures["large"] = Double(try await large)
        figures["small"] = Double(small.total)
        figures["small_p50_ms"] = small.percentile(0.5) / 1_000
        figures["small_p99_ms"] = small.percentile(0.99) / 1_000
        return figures
    }

    /// One small call after the other.
    static func sequentially(_ calculator: CalculatorProxy, until end: UInt64) async throws -> Latencies {
        var latencies = Latencies()
        while bench_now() < end {
            let begin = bench_now()
            try check(await calculator.add(1, 2) == 3)
            latencies.add(bench_now() - begin)
        }
        return latencies
    }
}
