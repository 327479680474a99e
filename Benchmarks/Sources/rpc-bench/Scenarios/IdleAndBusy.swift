// L2: ten thousand connections that do nothing, and a hundred beside them that do.

import BenchSystem
import Glibc
import RawEcho
import RemoteProxy
import SampleProtocols

extension Scenario {
    static let idleAndBusy = Scenario(
        name: "L2", summary: "10,000 idle connections, 100 busy ones beside them",
        claims: [
            .firm("idle", .atLeast(10_000)), .firm("wrong", .atMost(0)), .firm("server_bytes_each", .atMost(8_192)),
            .timed("idle_cpu_percent", .atMost(1)), .timed("busy_ratio", .atLeast(0.9)),
            .timed("busy_cpu_ratio", .atMost(1.1)),
        ], seconds: 20
    ) { site in
        let busy = (0..<100).map { _ in CalculatorProxy(RPCClient(site.url)) }
        let callers = { try await keepBusy(busy, for: min(site.seconds, 5), site.server) }
        _ = try await callers()
        let alone = try await callers()
        let before = try ProcessState(of: site.server)
        let idle = try await IdleConnections.open(10_000, to: site.url)
        try await Task.sleep(for: .seconds(1))
        let quiet = try ProcessState(of: site.server)
        let begin = bench_processor_time(site.server)
        // Long enough for each of them to be asked whether it is there.
        try await Task.sleep(for: .seconds(site.seconds))
        let spent = bench_processor_time(site.server) - begin
        let beside = try await callers()
        var figures = Figures()
        figures["idle"] = Double(try await FurnaceProxy(RPCClient(site.url)).facts()[0] - busy.count - 1)
        figures["server_bytes_each"] = Double(quiet.residentBytes - before.residentBytes) / Double(idle.count)
        figures["idle_cpu_percent"] = Double(spent) / 1e7 / site.seconds
        figures["busy_calls_per_s"] = beside.perSecond
        figures["busy_ratio"] = beside.perSecond / alone.perSecond
        figures["busy_cpu_ratio"] = beside.processorTime / alone.processorTime
        figures["wrong"] = 0
        withExtendedLifetime(idle) {}
        return figures
    }

    /// Calls over all of them for a while, one call at a time over each: how many a second, and what each cost the
    /// server's processor.
    private static func keepBusy(
        _ proxies: [CalculatorProxy], for seconds: Double, _ server: pid_t
    ) async throws -> (perSecond: Double, processorTime: Double) {
        let (begin, serverBegin) = (bench_now(), bench_processor_time(server))
        let end = begin + UInt64(seconds * 1e9)
        let calls = try await withThrowingTaskGroup(of: Int.self) { group in
            for proxy in proxies {
                group.addTask {
                    var calls = 0
                    while bench_now() < end {
                        try check(await proxy.add(calls, 1) == calls + 1)
                        calls += 1
                    }
                    return calls
                }
            }
            return try await group.reduce(0, +)
        }
        let time = Double(bench_now() - begin) / 1e9
        return (Double(calls) / time, Double(bench_processor_time(server) - serverBegin) / Double(max(1, calls)))
    }
}
