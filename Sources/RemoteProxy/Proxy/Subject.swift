// The seam of the proxy family: what a proxy forwards to.
//
// The library's subjects have `call` inlined into the function by which this protocol calls it. Otherwise each call would need one
// more async frame, and that costs as much as most of them do.

/// What a proxy forwards to: an object in this process, an object at the other end of a connection, or another subject with
/// something done before, after or instead.
///
/// It has two functions to write. A subject around another is a `WrappingSubject`, and needs only the one that it changes.
public protocol Subject<Service>: Sendable {
    /// The service as an existential: `any Greeter`.
    associatedtype Service: Sendable

    /// Performs a call and returns its result, on the actor of the caller. A subject around another must hand on the very method that it was given. Through
    /// that method the object at the end tells whether it has begun, which is what the caller of a stopped call learns.
    /// - Throws: what the real object throws; `RPCError` when it could not be reached or did not answer in time;
    ///   `CancellationError` soon after the calling task is cancelled.
    nonisolated(nonsending) func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result

    /// Performs a post. Returns without waiting and reports no failure.
    /// - Parameter now: Delivers the post to an object synchronously, on the actor of the caller. A subject that has the object
    ///   calls it at once. Any other subject encodes the arguments, or keeps them with `post` for later. For an `async` post it
    ///   only notes the object, which runs the post when this function has returned.
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void)

    /// The beginning of a call to an object at the other end of a connection, which the proxy then makes itself. Nil from every
    /// other subject, whose `call` is used. Only for the library to implement.
    func _remoteCall(_ signature: MethodSignature) -> _RemoteCall?
}

/// A subject that knows which methods its object has. All other subjects have every method of their service.
///
/// For an object that may have been built before its protocol gained a method, or that hides some:
///
/// ```swift
/// struct WithoutAudit<Service: Sendable>: WrappingSubject, SelectiveSubject {
///     let next: any Subject<Service>
///
///     nonisolated(nonsending) func has(_ method: MethodSignature) async throws -> Bool {
///         method.name == "audit" ? false : try await next.supports(method)
///     }
/// }
/// ```
public protocol SelectiveSubject<Service>: Subject {
    /// Whether the object has the method; `proxy.supports(_:)` answers the same.
    /// - Throws: `RPCError` when the other end could not be asked.
    nonisolated(nonsending) func has(_ method: MethodSignature) async throws -> Bool
}

extension Subject {
    /// Nil.
    public func _remoteCall(_ signature: MethodSignature) -> _RemoteCall? { nil }

    /// Whether the object has the method. An object at the other end of a connection may have been built before the protocol
    /// gained it. True unless a `SelectiveSubject` in the chain says otherwise.
    /// - Throws: `RPCError` when the other end could not be asked.
    public func supports(_ method: MethodSignature) async throws -> Bool {
        switch self {
        case let subject as any SelectiveSubject<Service>: try await subject.has(method)
        case let subject as any PassingSubject<Service>:
            try await subject.ask(isRepeatable: true) { try await $0.supports(method) }
        case let subject as any WrappingSubject<Service>: try await subject.next.supports(method)
        default: true
        }
    }
}
