// The real calculator. It uses arithmetic that reports overflow. A plain `+` traps on overflow, and a trap in one subject
// ends the whole server and all its calls.

import Protocols

/// Arithmetic that throws where Swift's operators would trap.
package struct CheckedCalculator: Calculator {
    /// A calculator; it has no state.
    package init() {}

    package func add(_ a: Int, _ b: Int) async throws -> Int {
        let (sum, overflow) = a.addingReportingOverflow(b)
        guard !overflow else { throw ArithmeticFailure.overflow }
        return sum
    }

    package func divide(_ dividend: Int, by divisor: Int) async throws -> Int {
        guard divisor != 0 else { throw ArithmeticFailure.divisionByZero }
        let (quotient, overflow) = dividend.dividedReportingOverflow(by: divisor)
        guard !overflow else { throw ArithmeticFailure.overflow }
        return quotient
    }
}
