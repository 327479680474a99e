public import RemoteProxy

/// A number that everybody shares, and a notebook beside it.
@Service(errors: ArithmeticFailure.self)
public protocol Counter: Sendable {
    /// Adds an amount and returns the new value. Throws `ArithmeticFailure.overflow` when it does not fit.
    func increment(by amount: Int) async throws -> Int
    /// Adds one and returns the new value.
    func next() async throws -> Int
    func value() async throws -> Int
    /// Writes a line into the notebook. One way: the caller does not wait and hears of no failure.
    func note(_ text: String)
    /// What was noted last, oldest first.
    func notes() async throws -> [String]
}
