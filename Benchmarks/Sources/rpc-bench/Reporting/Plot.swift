// The call workloads as a picture: for each, what share of the raw baseline's speed is left, and where its goal stands.

struct Plot {
    let reports: [Report]

    private struct Bar {
        let name: String
        let share: Double
        let goal: Double?
        let label: String
    }

    private var bars: [Bar] {
        reports.compactMap { report in
            guard case .overSockets(let workload) = report.workload.kind, let ratio = report.figures["ratio"] else {
                return nil
            }
            let isLatency = workload.comparison == .medianLatency
            let label =
                isLatency
                ? "p50 \(Number.short(report.figures["p50_us"] ?? 0)) us, raw \(Number.short(report.figures["raw_p50_us"] ?? 0))"
                : "\(Number.grouped(report.figures["calls_per_s"] ?? 0))/s, raw \(Number.grouped(report.figures["raw_calls_per_s"] ?? 0))"
            return Bar(
                name: report.workload.name, share: isLatency ? 1 / ratio : ratio,
                goal: Self.goal(report.workload.goal), label: label)
        }
    }

    private static func goal(_ goal: Goal?) -> Double? {
        guard let goal, goal.figure == "ratio" else { return nil }
        return switch goal.bound {
        case .atMost(let most): 1 / most
        case .atLeast(let least): least
        }
    }

    var svg: String {
        let (left, width, row) = (130.0, 420.0, 34.0)
        let bars = self.bars
        let height = 70 + Double(bars.count) * row
        let full = max(1, bars.map(\.share).max() ?? 1)
        var lines = [
            #"<svg xmlns="http://www.w3.org/2000/svg" width="800" height="\#(height)" font-family="sans-serif" "#
                + #"font-size="13">"#,
            #"<rect width="800" height="\#(height)" fill="white"/>"#,
            #"<text x="12" y="24" font-size="15">Share of the raw baseline's speed; the line is the goal</text>"#,
        ]
        for (index, bar) in bars.enumerated() {
            let top = 44 + Double(index) * row
            let length = width * bar.share / full
            lines.append(#"<text x="\#(left - 8)" y="\#(top + 15)" text-anchor="end">\#(bar.name)</text>"#)
            lines.append(#"<rect x="\#(left)" y="\#(top)" width="\#(width / full)" height="20" fill="gainsboro"/>"#)
            lines.append(#"<rect x="\#(left)" y="\#(top)" width="\#(length)" height="20" fill="steelblue"/>"#)
            if let goal = bar.goal {
                let x = left + width * goal / full
                lines.append(
                    #"<line x1="\#(x)" x2="\#(x)" y1="\#(top - 4)" y2="\#(top + 24)" stroke="firebrick" "#
                        + #"stroke-width="2"/>"#)
            }
            lines.append(
                #"<text x="\#(left + width + 10)" y="\#(top + 15)" font-size="11">\#(bar.label)</text>"#)
        }
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }
}
