public import RemoteProxy

/// Arithmetic on whole numbers.
@Service(errors: ArithmeticFailure.self)
public protocol Calculator: Sendable {
    /// The sum. Throws `ArithmeticFailure.overflow` when it does not fit.
    func add(_ a: Int, _ b: Int) async throws -> Int
    /// The quotient, towards zero. Throws `ArithmeticFailure.divisionByZero`, or `.overflow` for `.min / -1`.
    func divide(_ dividend: Int, by divisor: Int) async throws -> Int
}

/// Why there is no result. Listed in `@Service(errors:)`, so it arrives at the caller as itself.
public enum ArithmeticFailure: Error, Codable, Sendable, Hashable {
    case divisionByZero
    case overflow
}
