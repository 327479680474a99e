// The seam of the whole proxy family: what a proxy forwards to.

/// What a proxy forwards to: an object that is here, one at the other end of a connection, or another subject with
/// something done before, after or instead.
///
/// A wrapping subject holds the next one and passes on the method and its arguments. Two functions are the whole of it:
///
/// ```swift
/// struct Announcing<Service: Sendable>: Subject {
///     let next: any Subject<Service>
///
///     func call<Arguments, Result>(
///         _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
///     ) async throws -> Result {
///         print("calling", method.signature.wireName)
///         return try await next.call(method, arguments)
///     }
///
///     func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
///         next.post(post, arguments, now: now)
///     }
/// }
/// ```
public protocol Subject<Service>: Sendable {
    /// The service as an existential: `any Greeter`.
    associatedtype Service: Sendable

    /// Performs a call and returns its result.
    /// - Throws: what the real object throws; `RPCError` when it could not be reached or did not answer in time;
    ///   `CancellationError` as soon as the calling task is cancelled.
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result

    /// Performs a post. Returns without waiting for anybody and reports no failure.
    /// - Parameter now: Delivers the post to an object synchronously, on the actor of the caller. A subject that has
    ///   the object calls it at once; one that has not, encodes the arguments or keeps them with `post` for later.
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void)
}
