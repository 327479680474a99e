// The real greeter.

import Protocols

/// Greets in English.
package struct EnglishGreeter: Greeter {
    /// A greeter; it has no state.
    package init() {}

    package func greet(_ name: String) async throws -> String { "Hello, \(name)!" }
}
