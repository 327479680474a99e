// A subject around a subject: all calls pass through, except where it does something itself.

/// A subject that has a next subject and does something before, after or instead of it.
///
/// All functions of `Subject` exist already and hand on to the next one. Write only those in which something is to happen:
///
/// ```swift
/// struct Announcing<Service: Sendable>: WrappingSubject {
///     let next: any Subject<Service>
///
///     nonisolated(nonsending) func call<Arguments, Result>(
///         _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
///     ) async throws -> Result {
///         print("calling", method.signature.wireName)
///         return try await next.call(method, arguments)
///     }
/// }
/// ```
public protocol WrappingSubject<Service>: Subject {
    /// The next subject inward.
    var next: any Subject<Service> { get }
}

extension WrappingSubject {
    /// Hands the call on.
    @inline(__always)
    nonisolated(nonsending) public func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await next.call(method, arguments)
    }

    /// Hands the post on.
    public func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        next.post(post, arguments, now: now)
    }
}
