// A time limit for each call of a proxy, where `withCallTimeout` limits several calls together. Also the subject behind it, which
// changes the scope that calls inherit.

import RPCSockets
package import RPCWire

extension ServiceProxy {
    /// Gives each call at most `timeout`, or less if its caller has less. A call to the other end then throws
    /// `.deadlineExceeded`, or `.unavailable` if there was no connection. The limit also applies to the calls that a local
    /// object makes in turn. Local work is not interrupted. Posts pass unchanged, since no caller waits for them.
    ///
    /// Inside `retrying` it limits each attempt, outside all of them together.
    public func with(timeout: Duration) -> Self { with(timeout: timeout, clock: EventLoop.shared) }

    package func with(timeout: Duration, clock: any Loop) -> Self {
        Self(
            subject: ScopedSubject(next: proxySubject) { scope in
                (scope ?? CallScope()).limited(to: clock.now.advanced(by: timeout))
            })
    }
}

/// A subject that changes the scope which calls inherit, and not that of posts.
private struct ScopedSubject<Service: Sendable>: WrappingSubject, PassingSubject {
    let next: any Subject<Service>
    /// Makes the scope for calls from the present one.
    let scope: @Sendable (CallScope?) -> CallScope

    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        try await scope(.current).entered { try await question(next) }
    }

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await scope(.current).entered { try await next.call(method, arguments) }
    }
}
