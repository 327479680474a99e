// The time between two readings of the clocks: what it took, and how much processor both processes used meanwhile.

import BenchSystem
import RawEcho

/// An open window on this process and on the server's.
struct Window {
    private let server: pid_t
    private let begin = bench_now()
    private let ownBegin = bench_processor_time(getpid())
    private let serverBegin: UInt64

    init(server: pid_t) {
        self.server = server
        serverBegin = bench_processor_time(server)
    }

    /// Closes the window: rates and processor time (user and system) per call.
    func figures(calls: Int, latencies: Latencies?) -> Figures {
        let seconds = Double(bench_now() - begin) / 1e9
        let own = bench_processor_time(getpid()) - ownBegin
        let servers = bench_processor_time(server) - serverBegin
        let count = Double(max(1, calls))
        var figures = Figures()
        figures["calls_per_s"] = Double(calls) / seconds
        if let latencies {
            figures["p50_us"] = latencies.percentile(0.5)
            figures["p99_us"] = latencies.percentile(0.99)
        }
        figures["client_cpu_us"] = Double(own) / 1_000 / count
        figures["server_cpu_us"] = Double(servers) / 1_000 / count
        return figures
    }
}
