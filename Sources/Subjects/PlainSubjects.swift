// The real greeter and the real echo.

package import Protocols

/// Greets in English.
package struct EnglishGreeter: Greeter {
    /// A greeter; it has no state.
    package init() {}

    package func greet(_ name: String) async throws -> String { "Hello, \(name)!" }
}

/// Returns its argument.
package struct PlainEcho: Echo {
    /// The longest delay of `later`, in milliseconds: a peer must not keep calls for ever.
    package static let longestDelay = 60_000

    /// An echo; it has no state.
    package init() {}

    package func text(_ text: String) async throws -> String { text }

    package func record(_ record: Record) async throws -> Record { record }

    package func later(_ text: String, afterMilliseconds: Int) async throws -> String {
        let delay = min(max(afterMilliseconds, 0), Self.longestDelay)
        try await Task.sleep(for: .milliseconds(delay))
        return text
    }
}

/// A transfer of a text that is made up from its name.
package struct PlainTransfer: Transfer {
    /// A transfer.
    package init() {}

    package func download(_ name: String, progress: @escaping @Sendable (Int) -> Void) async throws -> String {
        var text = ""
        for part in 1...4 {
            text += "\(name), part \(part). "
            progress(25 * part)
        }
        return text
    }
}
