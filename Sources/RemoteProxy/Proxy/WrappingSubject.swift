// A subject around a subject: everything passes through unless it says otherwise.

/// A subject that holds the next one and does something before, after or instead of what that does.
///
/// All functions of `Subject` are there already and hand on; write those in which something is to happen:
///
/// ```swift
/// struct Announcing<Service: Sendable>: WrappingSubject {
///     let next: any Subject<Service>
///
///     func call<Arguments, Result>(
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
    public func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await next.call(method, arguments)
    }

    /// Hands the post on.
    public func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        next.post(post, arguments, now: now)
    }
}
