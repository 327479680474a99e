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

/// A subject that changes the scope which calls inherit.
struct ScopedSubject<Service: Sendable>: WrappingSubject, PassingSubject {
    let next: any Subject<Service>
    /// Whether posts get the new scope too.
    var includesPosts = false
    /// The hold that lasts as long as this subject is there; nil if there is none.
    var hold: Hold?
    /// Makes the scope for calls from the present one. Returns nil to leave it unchanged.
    let scope: @Sendable (CallScope?) -> CallScope?

    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        guard let scope = scope(.current) else { return try await question(next) }
        return try await scope.entered { try await question(next) }
    }

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await ask(isRepeatable: false) { try await $0.call(method, arguments) }
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        guard includesPosts, let scope = scope(.current) else { return next.post(post, arguments, now: now) }
        CallScope.with(scope) { next.post(post, arguments, now: now) }
    }
}
