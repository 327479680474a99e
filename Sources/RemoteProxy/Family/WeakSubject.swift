// A subject that does not keep its object alive. What the generated `weak(_:)` makes.

/// Forwards to an object for as long as somebody else keeps it. Afterwards calls throw `RPCError` with the code
/// `.subjectGone`, `.notExecuted`, and posts vanish.
public struct WeakSubject<Service: Sendable>: Subject {
    private let object: @Sendable () -> Service?

    /// - Parameter object: Gives the object, or nil once it is gone: `{ [weak view] in view }`.
    public init(_ object: @escaping @Sendable () -> Service?) { self.object = object }

    /// Calls the object, which stays until the call has ended.
    public func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        guard let object = object() else {
            throw RPCError(
                .subjectGone,
                "the object behind this \(method.signature.service) is gone, since its proxy refers to it weakly; "
                    + "keep the object, or make the proxy without 'weak'",
                outcome: .notExecuted)
        }
        return try await LocalSubject(object: object).call(method, arguments)
    }

    /// Delivers the post if the object is still there.
    public func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        if let object = object() { now(object) }
    }
}
