// A time limit for each call: what `withTimeout` says around several calls, said once for a proxy.

package import RPCSockets
package import RPCWire

struct TimeLimitedSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let timeout: Duration
    let clock: any Loop

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await scope.entered { try await next.call(method, arguments) }
    }

    func supports(_ method: MethodSignature) async throws -> Bool {
        try await scope.entered { try await next.supports(method) }
    }

    func hold(for lease: Duration) async throws -> Hold {
        try await scope.entered { try await next.hold(for: lease) }
    }

    /// The present scope, with no more time than the limit.
    private var scope: CallScope {
        var scope = CallScope.current ?? CallScope()
        let deadline = clock.now.advanced(by: timeout)
        scope.deadline = min(scope.deadline ?? deadline, deadline)
        return scope
    }
}

extension ServiceProxy {
    /// Gives each call at most `timeout`, less if the caller has less. Whatever waits further in gives up then: a call
    /// to the other end with `.deadlineExceeded`, or `.unavailable` if there was no connection; the calls that a local
    /// object makes in turn. Local work is not interrupted, and posts, for which nobody waits, pass unchanged.
    ///
    /// Inside `retrying` it limits each attempt, outside all of them together.
    public func with(timeout: Duration) -> Self { with(timeout: timeout, clock: EventLoop.shared) }

    package func with(timeout: Duration, clock: any Loop) -> Self {
        Self(subject: TimeLimitedSubject(next: proxySubject, timeout: timeout, clock: clock))
    }
}
