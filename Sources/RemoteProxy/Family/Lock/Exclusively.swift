// Several calls without anybody in between.

extension ServiceProxy {
    /// Holds the subject while the body runs: calls that the body makes through this proxy go ahead, everybody else's
    /// wait within their deadlines. Works with whatever has `.locked()` in its stack, here or at the other end.
    ///
    /// ```swift
    /// try await ledger.exclusively(lease: .seconds(10)) {
    ///     let balance = try await ledger.balance()
    ///     try await ledger.set(balance + 1)
    /// }
    /// ```
    ///
    /// The hold ends with the body, with the session over which it was asked for, or with its lease, whichever comes
    /// first. Calls made under it then throw `.holdEnded`, `.notExecuted`; one that is running runs on, and the next in
    /// line has the subject after it. Child tasks of the body hold too, and take turns among themselves.
    ///
    /// - Parameter lease: how long others may be kept waiting at most.
    /// - Throws: what the body throws; `RPCError` when the subject was not to be had within the deadline of the calling
    ///   task, or cannot be held at all; `CancellationError` soon after the calling task is cancelled while it waits.
    public func exclusively<Result>(
        lease: Duration = .seconds(30), _ body: () async throws -> Result
    ) async throws -> Result {
        let hold: Hold
        do { hold = try await proxySubject.hold(for: lease) } catch { throw error.thrownByProxy }
        defer { hold.release() }
        return try await hold.entered(body)
    }
}
