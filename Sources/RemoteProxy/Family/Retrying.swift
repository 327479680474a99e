// Retrying: a call that failed for a while is made again, if that cannot run anything twice, within the deadline and
// within what all calls together may be tried again.

import RPCSockets
package import RPCWire

/// When a failed call is tried again, for `retrying`.
public struct RetryPolicy: Sendable {
    /// Attempts in all, the first one included.
    public var maximumAttempts = 4
    /// The longest wait after the first failure; it doubles with each one. The actual wait is a random part of it.
    public var base: Duration = .milliseconds(50)
    /// The longest wait of all.
    public var limit: Duration = .seconds(2)
    /// What a call may take, all attempts and waits together, when it has no deadline.
    public var timeout: Duration = .seconds(30)
    /// The failures that may pass by themselves. A second attempt would not change others.
    public var codes: Set<RPCError.Code> = [.busy, .unavailable, .connectionLost, .deadlineExceeded]

    /// All defaults.
    public init() {}
}

struct RetryingSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let policy: RetryPolicy
    /// Methods that may be repeated although they are not marked.
    let repeatable: Set<String>
    let budget: RetryBudget
    let clock: any Loop
    let chance: @Sendable () -> Double

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        budget.countCall()
        let deadline = CallScope.current?.deadline ?? clock.now.advanced(by: policy.timeout)
        do {
            return try await next.call(method, arguments)
        } catch let error as RPCError {
            return try await again(method, arguments, after: error, until: deadline)
        }
    }

    private func again<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments, after first: RPCError,
        until deadline: Instant
    ) async throws -> Result {
        let isRepeatable = method.signature.isRepeatable || repeatable.contains(method.signature.name)
        var scope = CallScope.current ?? CallScope()
        scope.deadline = deadline
        var (error, failures) = (first, 1)
        while let end = endOfWait(after: error, isRepeatable, failures: failures, before: deadline) {
            // Ends by its deadline alone.
            _ = try await WaitingTask<Void>().wait(until: end, on: clock)
            do {
                return try await scope.entered { try await next.call(method, arguments) }
            } catch let latest as RPCError {
                (error, failures) = (latest.after(error.outcome), failures + 1)
            }
        }
        throw error
    }

    /// When to try again; nil when the failure stands.
    private func endOfWait(
        after error: RPCError, _ isRepeatable: Bool, failures: Int, before deadline: Instant
    ) -> Instant? {
        let isSafe = error.outcome == .notExecuted || error.outcome == .unknown && isRepeatable
        guard isSafe, failures < policy.maximumAttempts, policy.codes.contains(error.code) else { return nil }
        let now = clock.now
        let backoff = Backoff(base: policy.base, limit: policy.limit)
        let end = now.advanced(by: backoff.delay(afterFailures: failures - 1, chance: chance()))
        // Last, because only a retry that is made is paid for.
        return end < deadline && budget.withdraw(at: now) ? end : nil
    }
}

extension ServiceProxy {
    /// Makes a failed call again, after a wait that grows, when that cannot run anything twice: any method if the
    /// failure's outcome is `.notExecuted`, methods marked `@ReadOnly` or `@Idempotent` if it is `.unknown`, none if it
    /// is `.executed`. Never past the deadline: then, or when the attempts are used up, the latest failure is thrown,
    /// with the outcome `.unknown` if an earlier attempt may have run. Errors other than `RPCError` are answers. Posts
    /// are not retried.
    ///
    /// All proxies of one client share a budget of retries: one for five calls, and ten a second. So retries do not bring down a
    /// server in trouble. A proxy that does not show its client here, such as a lazy one, has a budget of its own.
    ///
    /// - Parameter methods: Methods that are not marked and may be repeated all the same.
    public func retrying(_ policy: RetryPolicy = RetryPolicy(), repeating methods: [MethodName] = []) -> Self {
        retrying(policy, repeating: methods, clock: EventLoop.shared, chance: { .random(in: 0..<1) })
    }

    package func retrying(
        _ policy: RetryPolicy = RetryPolicy(), repeating methods: [MethodName] = [], clock: any Loop,
        chance: @escaping @Sendable () -> Double
    ) -> Self {
        return Self(
            subject: RetryingSubject(
                next: proxySubject, policy: policy, repeatable: Set(methods.map(\.name)),
                budget: proxySubject.remoteEnd?.retryBudget ?? RetryBudget(), clock: clock, chance: chance))
    }
}
