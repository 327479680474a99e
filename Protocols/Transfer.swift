public import RemoteProxy

/// Sends texts, and says how far it has come.
@Service
public protocol Transfer: Sendable {
    /// The text of that name. Calls `progress` with the percentage that has been sent, at least once.
    func download(_ name: String, progress: @escaping @Sendable (Int) -> Void) async throws -> String
}
