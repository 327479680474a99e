// A client process calling a server process, alternating with the raw baseline: what most workloads are.

import BenchSystem

/// A workload that goes over a socket.
struct OverSockets: Sendable {
    /// What the ratio compares.
    enum Comparison: Sendable { case callsPerSecond, medianLatency }

    let baseline: RawBaseline?
    let comparison: Comparison
    /// The client's part, in its own process.
    let client: @Sendable (Site) async throws -> Figures

    static func named(_ arguments: [String], count: Int) throws(BenchFailure) -> OverSockets {
        guard arguments.count == count, case .overSockets(let workload)? = Workload.named(arguments[0])?.kind else {
            throw BenchFailure("no such workload")
        }
        return workload
    }

    /// Ours and raw take turns, so that a machine that slows down slows both.
    func figures(_ name: String, _ options: Options) throws -> Figures {
        var ours: [Figures] = []
        var raw: [Figures] = []
        for _ in 0..<options.runs {
            ours.append(try run(name, options))
            if let baseline { raw.append(try baseline.figures(name, options.seconds)) }
        }
        var figures = Figures.medians(of: ours)
        figures.add(Figures.medians(of: raw))
        figures["ratio"] = ratio(figures)
        return figures
    }

    private func run(_ name: String, _ options: Options) throws -> Figures {
        let server = try Child(.serve, options.isSealed ? [SampleServer.sealed] : [])
        let url = try server.firstLine()
        var client = try Child(.client, [name, url, "\(server.process)", "\(options.seconds)"])
        return try Figures(lines: client.outputToEnd())
    }

    private func ratio(_ figures: Figures) -> Double? {
        let figure = comparison == .callsPerSecond ? "calls_per_s" : "p50_us"
        guard let ours = figures[figure], let raw = figures["raw_\(figure)"], raw > 0 else { return nil }
        return ours / raw
    }
}
