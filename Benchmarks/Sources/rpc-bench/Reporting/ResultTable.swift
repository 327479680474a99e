// The reports of all workloads as text: calls in columns, local proxies in rows, everything else a figure a line.

struct ResultTable {
    private static let columns = [
        ("calls_per_s", "calls/s"), ("p50_us", "p50 us"), ("p99_us", "p99 us"), ("client_cpu_us", "client us"),
        ("server_cpu_us", "server us"), ("raw_calls_per_s", "raw calls/s"), ("raw_p50_us", "raw p50"),
        ("ratio", "ratio"), ("client_allocations", "c allocs"), ("server_allocations", "s allocs"), ("load", "load"),
    ]

    let reports: [Report]

    var text: String { [calls, kinds, others].filter { !$0.isEmpty }.joined(separator: "\n") }

    private static func isCall(_ report: Report) -> Bool {
        report.figures["calls_per_s"] != nil || report.figures["raw_calls_per_s"] != nil
    }

    /// The kinds of proxies that a report tells the cost of.
    private static func kinds(in report: Report) -> [String] {
        report.figures.names.compactMap { name in
            name.hasSuffix("_allocations") && !isCall(report) ? String(name.dropLast("_allocations".count)) : nil
        }
    }

    private var kinds: String {
        var rows = [["proxy", "ns", "ratio", "allocations", "", ""]]
        for report in reports {
            for kind in Self.kinds(in: report) {
                let cells = ["ns", "ratio", "allocations"].map { report.figures["\(kind)_\($0)"] }
                rows.append([kind] + cells.map { $0.map(Number.grouped) ?? "-" } + ["", ""])
            }
        }
        return rows.count > 1 ? Self.aligned(rows) : ""
    }

    private var calls: String {
        guard reports.contains(where: { Self.isCall($0) || $0.unavailable != nil }) else { return "" }
        var rows = [["workload"] + Self.columns.map(\.1) + ["goal", "met"]]
        for report in reports where Self.isCall(report) {
            let cells = Self.columns.map { report.figures[$0.0].map(Number.grouped) ?? "-" }
            let met = report.isMet.map { $0 ? "yes" : "no" } ?? "-"
            rows.append([report.workload.name] + cells + [report.goal ?? "", met])
        }
        return Self.aligned(rows)
            + reports.compactMap { report in
                report.unavailable.map { "\(report.workload.name): unavailable, \($0)\n" }
            }.joined()
    }

    private var others: String {
        var rows: [[String]] = []
        for report in reports where !Self.isCall(report) {
            let kinds = Self.kinds(in: report)
            for name in report.figures.names where !kinds.contains(where: { name.hasPrefix("\($0)_") }) {
                let goal = report.workload.goals.first { $0.figure == name }
                let met = goal?.isMet(by: report.figures).map { $0 ? "yes" : "no" } ?? ""
                rows.append([
                    report.workload.name, Number.grouped(report.figures[name] ?? .nan), name,
                    goal?.description ?? "", met,
                ])
            }
        }
        return Self.aligned(rows)
    }

    /// Names to the left, numbers to the right.
    private static func aligned(_ rows: [[String]]) -> String {
        guard let first = rows.first else { return "" }
        let widths = first.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                let space = String(repeating: " ", count: widths[column] - cell.count)
                let isNumber = cell.first.map { $0.isNumber || $0 == "-" } ?? false
                let isRight = isNumber || (column > 0 && row == first && column < row.count - 2)
                line += (isRight ? space + cell : cell + space) + "  "
            }
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
