// A subject that only changes what calls inherit: their deadline, or the rights under which they are made.

/// A subject that hands calls and questions on in a scope of its own. It spells the scope, and `post` if that is for posts too.
protocol ScopedSubject<Service>: WrappingSubject {
    /// The scope for what is called now. Nil to leave it as it is.
    var scope: CallScope? { get }
}

extension ScopedSubject {
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        guard let scope else { return try await next.call(method, arguments) }
        return try await scope.entered { try await next.call(method, arguments) }
    }

    func supports(_ method: MethodSignature) async throws -> Bool {
        guard let scope else { return try await next.supports(method) }
        return try await scope.entered { try await next.supports(method) }
    }

    func hold(for lease: Duration) async throws -> Hold {
        guard let scope else { return try await next.hold(for: lease) }
        return try await scope.entered { try await next.hold(for: lease) }
    }
}
