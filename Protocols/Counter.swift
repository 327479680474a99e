public import RemoteProxy

/// A number that all callers share, and a notebook beside it.
@Service(errors: ArithmeticFailure.self)
public protocol Counter: Sendable {
    /// Adds an amount and returns the new value. Throws `ArithmeticFailure.overflow` when it does not fit.
    func increment(by amount: Int) async throws -> Int
    /// Adds one and returns the new value.
    func next() async throws -> Int
    func value() async throws -> Int
    /// Writes a line into the notebook. The caller does not wait, and no failure is reported.
    func note(_ text: String)
    /// The latest notes, oldest first.
    func notes() async throws -> [String]
}
