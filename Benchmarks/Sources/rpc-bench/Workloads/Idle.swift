// Ten thousand connections that did one call each and then nothing: what the server keeps for each, and whether
// anything wakes it.

import BenchSystem
import RawEcho
import RemoteProxy
import SampleProtocols

extension Workload {
    private static let connections = 10_000

    static let idle = Workload(
        name: "idle", summary: "10,000 idle connections",
        goal: Goal("server_bytes_each", .atMost(4_096)),
        kind: .overSockets(
            OverSockets(baseline: nil, comparison: .callsPerSecond) { site in
                let first = CalculatorProxy(RPCClient(site.url))
                try check(await first.add(1, 2) == 3)
                let before = try ProcessState(of: site.server)
                let begin = bench_now()
                let proxies = try await IdleConnections.open(connections, to: site.url)
                let connected = Double(bench_now() - begin) / 1e9
                // What is freed or sent late belongs to the connecting, not to the idleness.
                try await Task.sleep(for: .seconds(1))
                let quiet = try ProcessState(of: site.server)
                let (ownTime, serverTime) = (bench_processor_time(getpid()), bench_processor_time(site.server))
                try await Task.sleep(for: .seconds(site.seconds))
                let later = try ProcessState(of: site.server)
                let (ownLater, serverLater) = (bench_processor_time(getpid()), bench_processor_time(site.server))
                var figures = Figures()
                figures["connections"] = Double(proxies.count)
                figures["connections_per_s"] = Double(proxies.count) / connected
                figures["server_bytes_each"] =
                    Double(quiet.residentBytes - before.residentBytes) / Double(proxies.count)
                figures["server_wakeups_per_s"] = Double(later.wakeups - quiet.wakeups) / site.seconds
                figures["server_cpu_us_per_s"] = Double(serverLater - serverTime) / 1_000 / site.seconds
                figures["client_cpu_us_per_s"] = Double(ownLater - ownTime) / 1_000 / site.seconds
                // Else the connections would close at the last mention of them, before the clocks are read.
                withExtendedLifetime(proxies) {}
                return figures
            }))
}
