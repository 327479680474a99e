// Each proxy that stands in this process against the direct call through an existential: what the pattern costs when
// nothing is sent.

import BenchSystem
import RawEcho
import RemoteProxy

extension Workload {
    static let local = Workload(
        name: "local", summary: "each local proxy against the direct existential call",
        goal: Goal("ratio", .atMost(10)),
        kind: .alone { seconds in
            let (object, other, apart) = (WoodenAbacus(), WoodenAbacus(), WoodenAbacus())
            let kinds = LocalKind.all(around: object, and: other, apart: apart)
            let share = seconds / Double(kinds.count + LocalShape.allCases.count)
            var figures = Figures()
            var direct: [LocalShape: Double] = [:]
            for shape in LocalShape.allCases {
                direct[shape] = try await measure("direct_\(shape)", disguised(object), shape, share, into: &figures)
            }
            var worst = 0.0
            for kind in kinds {
                let time = try await measure(kind.name, disguised(kind.abacus), kind.shape, share, into: &figures)
                let ratio = time / (direct[kind.shape] ?? .nan)
                figures["\(kind.name)_ratio"] = ratio
                if kind.isBound { worst = max(worst, ratio) }
            }
            figures["ratio"] = worst
            withExtendedLifetime((other, apart)) {}
            return figures
        })

    /// The median over rounds of many calls: one call is shorter than reading the clock. In processor time, which other
    /// programs change least. Then one round more, with its allocations counted.
    private static func measure(
        _ name: String, _ abacus: any Abacus, _ shape: LocalShape, _ seconds: Double, into figures: inout Figures
    ) async throws -> Double {
        let round = 10_000
        let end = bench_now() + UInt64(seconds * 1e9)
        var times: [Double] = []
        repeat {
            let begin = bench_processor_time(getpid())
            try await shape.play(round, on: abacus)
            times.append(Double(bench_processor_time(getpid()) - begin) / Double(round))
        } while bench_now() < end
        let before = bench_allocations()
        bench_count_allocations(1)
        try await shape.play(round, on: abacus)
        bench_count_allocations(0)
        let time = Figures.median(of: times) ?? 0
        figures["\(name)_ns"] = time
        figures["\(name)_allocations"] = Double(bench_allocations() - before) / Double(round)
        return time
    }
}

/// What is called: arguments and a result, a result alone, nothing back.
enum LocalShape: String, CaseIterable, Sendable {
    case call, read, post

    func play(_ round: Int, on abacus: any Abacus) async throws {
        var sum = 0
        switch self {
        case .call:
            for _ in 0..<round { sum = try await abacus.add(sum, 1) }
            try check(sum == round)
        case .read:
            for _ in 0..<round { sum += try await abacus.total() }
            try check(sum == round)
        case .post:
            for number in 0..<round { abacus.note(number) }
        }
    }
}
