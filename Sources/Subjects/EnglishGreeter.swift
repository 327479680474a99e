// The real greeter.

public import Protocols

/// Greets in English.
public struct EnglishGreeter: Greeter {
    /// A greeter; it has no state.
    public init() {}

    public func greet(_ name: String) async throws -> String { "Hello, \(name)!" }
}
