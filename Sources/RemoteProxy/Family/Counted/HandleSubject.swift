// A handle on a counted object as a subject: what is called through it is held by it, whoever it is done for.

/// The outermost subject of a handle; what is inside it is the stack that the handle was taken from.
struct HandleSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let handle: CountedHandle<Service>

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        guard let scope else { return try await next.call(method, arguments) }
        return try await scope.entered { try await next.call(method, arguments) }
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        guard let scope else { return next.post(post, arguments, now: now) }
        CallScope.with(scope) { next.post(post, arguments, now: now) }
    }

    func supports(_ method: MethodSignature) async throws -> Bool {
        guard let scope else { return try await next.supports(method) }
        return try await scope.entered { try await next.supports(method) }
    }

    func hold(for lease: Duration) async throws -> Hold {
        guard let scope else { return try await next.hold(for: lease) }
        return try await scope.entered { try await next.hold(for: lease) }
    }

    /// On behalf of a caller it has to be said that the handle holds, and not the caller's session.
    private var scope: CallScope? {
        guard var scope = CallScope.current, scope.caller != nil else { return nil }
        scope.rights.append(.handle(of: ObjectIdentifier(handle.counted)))
        return scope
    }
}
