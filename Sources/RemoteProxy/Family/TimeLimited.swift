// A time limit for each call of a proxy, where `withCallTimeout` limits several calls together.

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
        Self(subject: TimeLimitedSubject(next: proxySubject, timeout: timeout, clock: clock))
    }
}

private struct TimeLimitedSubject<Service: Sendable>: WrappingSubject, PassingSubject {
    let next: any Subject<Service>
    let timeout: Duration
    let clock: any Loop

    @inline(__always)
    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        let scope = (CallScope.current ?? CallScope()).limited(to: clock.now.advanced(by: timeout))
        return try await scope.entered { try await question(next) }
    }

    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await ask(isRepeatable: false) { try await $0.call(method, arguments) }
    }
}
