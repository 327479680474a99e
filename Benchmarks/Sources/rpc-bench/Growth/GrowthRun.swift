// Runs axes of growth and prints what came of it: a line of JSON for each size or a table, what is asked of the lines,
// and a plot.

/// A run of `rpc-bench growth`.
struct GrowthRun {
    private let growths: [Growth]
    private let options: Options

    init(_ options: Options) throws(BenchFailure) {
        self.options = options
        growths =
            try options.parts.isEmpty
            ? Growth.all
            : options.parts.map { part throws(BenchFailure) in
                try Growth.named(part)
            }
    }

    func run() throws {
        var curves: [GrowthCurve] = []
        for growth in growths {
            let curve = GrowthCurve(growth: growth, reports: try reports(growth))
            if options.printsJSON {
                for report in curve.reports { Program.say(report.json) }
            } else {
                print(ResultTable(reports: curve.reports).text)
            }
            Program.complain(curve.verdict)
            curves.append(curve)
        }
        try Program.write(GrowthPlot(curves: curves).svg, to: options.plot ?? "rpc-bench-growth.svg")
    }

    /// Goes over all sizes once for each run, so that a slow minute of the machine spoils one run of several sizes and
    /// not all of one.
    private func reports(_ growth: Growth) throws -> [Report] {
        var once = options
        once.runs = 1
        var runs: [[Figures]] = growth.sizes.map { _ in [] }
        for run in 1...options.runs {
            for (index, size) in growth.sizes.enumerated() {
                Program.complain("\(growth.name) \(size), run \(run) of \(options.runs) …")
                runs[index].append(try growth.point(at: size).report(once).figures)
            }
        }
        return zip(growth.sizes, runs).map { size, runs in
            var figures = Figures()
            figures[growth.name] = Double(size)
            figures.add(Figures.medians(of: runs))
            return Report(growth.point(at: size), figures)
        }
    }
}
