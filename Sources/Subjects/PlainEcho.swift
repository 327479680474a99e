// The real echo.

public import Protocols

/// Sends back what it gets.
public struct PlainEcho: Echo {
    /// The longest delay that `later` grants: a peer must not park calls for ever.
    public static let longestDelay = 60_000

    /// An echo; it has no state.
    public init() {}

    public func text(_ text: String) async throws -> String { text }

    public func record(_ record: Record) async throws -> Record { record }

    public func later(_ text: String, afterMilliseconds: Int) async throws -> String {
        let delay = min(max(afterMilliseconds, 0), Self.longestDelay)
        try await Task.sleep(for: .milliseconds(delay))
        return text
    }
}
