// Callers that call again and again: tasks on the pool or on a loop, each waiting for its answer before it calls again.

import BenchSystem
import RawEcho
import RemoteProxy

/// Where a client child measures: the server it calls, and for how long.
struct Site: Sendable {
    let url: Endpoint
    let server: pid_t
    let seconds: Double
}

/// A number of callers and what each of them does. Each calls in a loop of its own: what a call costs is not to contain how
/// the bench gets to it.
struct Callers: Sendable {
    let count: Int
    /// Where they run; nil is the ordinary pool.
    var executor: (any TaskExecutor)?
    /// The calls of the caller of the given number, for as long as its stint goes on.
    let calls: @Sendable (_ caller: Int, _ stint: inout Stint) async throws -> Void

    /// Warms up, then measures for the site's time; then once more, shortly, to count allocations.
    func measure(at site: Site) async throws -> Figures {
        _ = try await run(seconds: min(0.3, site.seconds))
        let window = Window(server: site.server)
        let latencies = try await run(seconds: site.seconds)
        var figures = window.figures(calls: latencies.calls, latencies: latencies)
        let meter: any Meter = MeterProxy(RPCClient(site.url))
        let serverBefore = try await meter.allocations(counting: true)
        bench_count_allocations(1)
        let calls = Double(max(1, try await run(seconds: min(0.3, site.seconds)).calls))
        bench_count_allocations(0)
        figures["client_allocations"] = Double(bench_allocations()) / calls
        figures["server_allocations"] = Double(try await meter.allocations(counting: false) - serverBefore) / calls
        return figures
    }

    private func run(seconds: Double) async throws -> Latencies {
        let end = bench_now() + UInt64(seconds * 1e9)
        return try await withThrowingTaskGroup(of: Latencies.self) { group in
            for caller in 0..<count {
                // A task that prefers "none" has a preference all the same, and looks it up at every turn.
                if let executor {
                    group.addTask(executorPreference: executor) { try await latencies(of: caller, until: end) }
                } else {
                    group.addTask { try await latencies(of: caller, until: end) }
                }
            }
            var all = Latencies()
            for try await latencies in group { all.add(latencies) }
            return all
        }
    }

    private func latencies(of caller: Int, until end: UInt64) async throws -> Latencies {
        var stint = Stint(until: end, amongOthers: count > 1)
        try await calls(caller, &stint)
        return stint.latencies
    }
}
