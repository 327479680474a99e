// Optional methods: asking, before a call, whether the object at the other end has the method at all.

extension ServiceProxy {
    /// Whether the object has a method. One at the other end of a connection may have been built before the protocol
    /// gained it: a call then throws `RPCError` with the code `.unimplemented` and the outcome `.notExecuted`.
    ///
    /// ```swift
    /// if try await feed.supports(.loadPage) { … } else { … }
    /// ```
    ///
    /// True at once for an object that is here. Asked once for each connection of a client.
    /// - Throws: `RPCError` when nobody could be asked; with the code `.unimplemented` when the other end, a program not
    ///   made with this library, has neither `rpc.supports` nor `rpc.discover`.
    public func supports(_ method: MethodName) async throws -> Bool {
        guard let entry = Self.methodTable.entries.first(where: { $0.signature.name == method.name }) else {
            return false
        }
        do { return try await proxySubject.supports(entry.signature) } catch { throw error.thrownByProxy }
    }
}
