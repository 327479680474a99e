// One name of the bench: what it measures, what is asked of it, and how it is run.

/// A workload.
struct Workload: Sendable {
    /// How its figures come about.
    enum Kind: Sendable {
        /// A client calls a server; beside them runs a raw baseline.
        case overSockets(OverSockets)
        /// In a process by itself.
        case alone(@Sendable (_ seconds: Double) async throws -> Figures)
        /// By starting programs and looking at the clock.
        case programs(@Sendable (Options) throws -> Figures)
    }

    let name: String
    let summary: String
    /// Points of a growth have none: what is asked of them is asked of the line they make.
    let goal: Goal?
    /// What is asked of its other figures.
    var furtherGoals: [Goal] = []
    let kind: Kind

    var goals: [Goal] { [goal].compactMap(\.self) + furtherGoals }

    static func named(_ name: String) -> Workload? { all.first { $0.name == name } ?? Growth.point(named: name) }

    /// Runs it as often as asked for and reports the medians, with the machine's load as it was before.
    func report(_ options: Options) throws -> Report {
        let load = ProcessState.load()
        var report = try measure(options)
        report.figures["load"] = load
        return report
    }

    private func measure(_ options: Options) throws -> Report {
        switch kind {
        case .overSockets(let workload):
            return Report(self, try workload.figures(name, options))
        case .alone:
            let runs = try (0..<options.runs).map { _ in
                var child = try Child(.alone, [name, "\(options.seconds)"])
                return try Figures(lines: child.outputToEnd())
            }
            return Report(self, Figures.medians(of: runs))
        case .programs(let measure):
            return Report(self, try measure(options))
        }
    }
}

/// What is asked of one figure of a workload.
struct Goal: Sendable {
    enum Bound: Sendable { case atMost(Double), atLeast(Double) }

    let figure: String
    let bound: Bound

    init(_ figure: String, _ bound: Bound) {
        self.figure = figure
        self.bound = bound
    }

    func isMet(by figures: Figures) -> Bool? {
        guard let value = figures[figure] else { return nil }
        switch bound {
        case .atMost(let most): return value <= most
        case .atLeast(let least): return value >= least
        }
    }

    var description: String {
        switch bound {
        case .atMost(let most): "\(figure) at most \(Number.short(most))"
        case .atLeast(let least): "\(figure) at least \(Number.short(least))"
        }
    }
}
