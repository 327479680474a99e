// A holder of a counted object at this end: a proxy that has it counted for as long as there is a copy of it.

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

/// One holder, from its making to its end.
final class CountedHandle<Service: Sendable>: Sendable {
    let counted: CountedObject<Service>

    init(_ counted: CountedObject<Service>) {
        self.counted = counted
        counted.join()
    }

    deinit { counted.leave() }
}

extension ServiceProxy {
    /// A holder of the object that is `.counted` in this proxy: the same proxy, which keeps the object for as long as
    /// there is a copy of it. The object is made now if it is not there. A proxy that counts nothing gives itself; so
    /// does one that counts inside `failover`, or inside an object that has not been made or bound yet.
    public func handle() -> Self {
        guard let layer = proxySubject.layer(CountedSubject<ProxiedService>.self) else { return self }
        return Self(subject: HandleSubject(next: proxySubject, handle: CountedHandle(layer.counted)))
    }
}
