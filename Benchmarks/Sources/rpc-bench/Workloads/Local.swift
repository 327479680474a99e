// Each proxy that stands in this process against the direct call through an existential: what the pattern costs when
// nothing is sent.

import RawEcho
import RemoteProxy
import SampleProtocols
import SampleSubjects

extension Workload {
    static let local = Workload(
        name: "local", summary: "each local proxy against the direct existential call",
        goal: Goal("ratio", .atMost(10)),
        kind: .alone { seconds in
            let direct: any Calculator = CheckedCalculator()
            let object = ObjectCalculator()
            let bound = CalculatorProxy.unbound()
            try bound.bind(to: direct)
            let variants: [(name: String, calculator: any Calculator)] = [
                ("proxy", CalculatorProxy(direct)),
                ("weak", CalculatorProxy.weak(object)),
                ("lazy", CalculatorProxy.lazy { direct }),
                ("lazy_idle", CalculatorProxy.lazy(keepingAlive: .seconds(60)) { direct }),
                ("unbound", bound),
            ]
            defer { withExtendedLifetime(object) {} }
            let share = seconds / Double(variants.count + 1)
            var figures = Figures()
            let base = try await nanoseconds(direct, share)
            figures["direct_ns"] = base
            var worst = 0.0
            for variant in variants {
                let time = try await nanoseconds(variant.calculator, share)
                figures["\(variant.name)_ns"] = time
                worst = max(worst, time / base)
            }
            figures["ratio"] = worst
            return figures
        })

    /// The median over rounds of many calls: one call is shorter than reading the clock.
    private static func nanoseconds(_ calculator: any Calculator, _ seconds: Double) async throws -> Double {
        let round = 10_000
        let end = bench_now() + UInt64(seconds * 1e9)
        var times: [Double] = []
        repeat {
            let begin = bench_now()
            var sum = 0
            for _ in 0..<round { sum = try await calculator.add(sum, 1) }
            times.append(Double(bench_now() - begin) / Double(round))
            try check(sum == round)
        } while bench_now() < end
        return Figures.median(of: times) ?? 0
    }
}

/// Something to refer to weakly.
private final class ObjectCalculator: Calculator {
    private let calculator = CheckedCalculator()

    func add(_ a: Int, _ b: Int) async throws -> Int { try await calculator.add(a, b) }
    func divide(_ dividend: Int, by divisor: Int) async throws -> Int {
        try await calculator.divide(dividend, by: divisor)
    }
}
