// A time limit for each call: what `withTimeout` says around several calls, said once for a proxy.

import RPCSockets
package import RPCWire

struct TimeLimitedSubject<Service: Sendable>: ScopedSubject {
    let next: any Subject<Service>
    let timeout: Duration
    let clock: any Loop

    /// The present scope, with no more time than the limit.
    var scope: CallScope? {
        var scope = CallScope.current ?? CallScope()
        let deadline = clock.now.advanced(by: timeout)
        scope.deadline = min(scope.deadline ?? deadline, deadline)
        return scope
    }
}

extension ServiceProxy {
    /// Gives each call at most `timeout`, less if the caller has less. Whatever waits further in gives up then: a call
    /// to the other end with `.deadlineExceeded`, or `.unavailable` if there was no connection; the calls that a local
    /// object makes in turn. Local work is not interrupted, and posts, for which nothing waits, pass unchanged.
    ///
    /// Inside `retrying` it limits each attempt, outside all of them together.
    public func with(timeout: Duration) -> Self { with(timeout: timeout, clock: EventLoop.shared) }

    package func with(timeout: Duration, clock: any Loop) -> Self {
        Self(subject: TimeLimitedSubject(next: proxySubject, timeout: timeout, clock: clock))
    }
}
