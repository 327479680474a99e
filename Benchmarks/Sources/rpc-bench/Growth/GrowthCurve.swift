// What a run along one axis found: a line of ours and one of plain sockets, and whether there is a cliff in it.

/// The points of an axis that was measured.
struct GrowthCurve {
    let growth: Growth
    let reports: [Report]

    /// By size; of plain sockets with the prefix `raw_`.
    func line(_ measure: GrowthMeasure, prefix: String) -> [(size: Int, value: Double)] {
        zip(growth.sizes, reports).compactMap { size, report in
            measure.value(report.figures, prefix: prefix, of: growth, at: size).map { (size, $0) }
        }
    }

    /// The steepest fall from one size to the next, and what is claimed.
    var verdict: String {
        let (ours, raw) = (line(.speed, prefix: ""), line(.speed, prefix: "raw_"))
        guard let fall = steepestFall(ours) else { return "\(growth.name): nothing to compare" }
        let step = "steepest step from \(fall.from) to \(fall.to), \(Number.short(fall.factor)) times as fast"
        var text = "\(growth.name): \(step)"
        if let same = factor(raw, from: fall.from, to: fall.to) { text += " (plain sockets \(Number.short(same)))" }
        if let claim = growth.claim, let factor = factor(ours, from: claim.from, to: claim.to) {
            text += "; \(claim.to) are \(Number.short(factor)) times as fast as \(claim.from): "
            text += factor >= 1 ? "met" : "missed"
        }
        return text
    }

    private func steepestFall(_ line: [(size: Int, value: Double)]) -> (from: Int, to: Int, factor: Double)? {
        zip(line, line.dropFirst()).map { ($0.size, $1.size, $1.value / $0.value) }.min { $0.2 < $1.2 }
    }

    private func factor(_ line: [(size: Int, value: Double)], from: Int, to: Int) -> Double? {
        guard let first = line.first(where: { $0.size == from }), let last = line.first(where: { $0.size == to }) else {
            return nil
        }
        return last.value / first.value
    }
}
