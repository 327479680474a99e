// Calls one at a time beside an object that blocks the thread of both for 20 ms, again and again: on a server that has
// another thread go on for it, and on one that waits. All in one process, as far as the system lets that be the same.

import BenchSystem
import Glibc
import RPCServer
import RawEcho
import RemoteProxy
import SampleProtocols
import SampleSubjects

extension Workload {
    static let blocking = Workload(
        name: "blocking", summary: "add, one at a time beside an object that blocks the thread for 20 ms",
        goal: Goal("p999_us", .atMost(5_000)),
        kind: .alone { seconds in
            var figures = Figures()
            for (name, threads, blocks) in [("quiet_", 64, false), ("", 64, true), ("waiting_", 0, true)] {
                let latencies = try await neighbour(seconds / 3, replacing: threads, blocks: blocks)
                figures["\(name)calls_per_s"] = Double(latencies.total) / (seconds / 3)
                figures["\(name)p50_us"] = latencies.percentile(0.5)
                figures["\(name)p99_us"] = latencies.percentile(0.99)
                figures["\(name)p999_us"] = latencies.percentile(0.999)
            }
            return figures
        })

    private static func neighbour(_ seconds: Double, replacing threads: Int, blocks: Bool) async throws -> Latencies {
        var configuration = RPCServer.Configuration()
        configuration.limits.maximumBlockedThreads = threads
        let server = RPCServer(configuration)
        server.export(CalculatorProxy(CheckedCalculator()))
        server.export(FurnaceProxy(ServerFurnace(server)))
        let url = try await server.listen(on: "tcp://127.0.0.1:0")
        let (client, other) = (RPCClient(url), RPCClient(url))
        _ = try await Scenario.sequentially(CalculatorProxy(client), until: bench_now() + 100_000_000)
        let end = bench_now() + UInt64(seconds * 1e9)
        async let blocked: Void = {
            // Half of the time, so that there is a beginning and an end.
            while blocks, bench_now() < end {
                _ = try await FurnaceProxy(other).block(20)
                try await Task.sleep(for: .milliseconds(20))
            }
        }()
        let latencies = try await Scenario.sequentially(CalculatorProxy(client), until: end)
        try await blocked
        client.close()
        other.close()
        await server.stop(grace: .zero)
        return latencies
    }
}
