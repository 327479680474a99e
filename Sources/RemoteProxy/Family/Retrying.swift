// Retrying: repeats a failed call, if that cannot run anything twice, within its deadline and within a budget for all calls.

import RPCSockets
package import RPCWire

/// Says when `retrying` repeats a failed call.
public struct RetryPolicy: Sendable {
    /// Attempts in all, the first one included.
    public var maximumAttempts = 4
    /// The waits between attempts.
    public var backoff = Backoff(initial: .milliseconds(50), maximum: .seconds(2))
    /// How long a call without a deadline may take, with all attempts and waits.
    public var timeout: Duration = .seconds(30)
    /// The failures that may be temporary. Others are not retried.
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

    @inline(__always)
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
            // Only the time ends this wait.
            _ = try await WaitingTask<Void>().wait(until: end, on: clock)
            do {
                return try await scope.entered { try await next.call(method, arguments) }
            } catch let latest as RPCError {
                (error, failures) = (latest.after(error.outcome), failures + 1)
            }
        }
        throw error
    }

    /// When to try again; nil if the failure is final.
    private func endOfWait(
        after error: RPCError, _ isRepeatable: Bool, failures: Int, before deadline: Instant
    ) -> Instant? {
        let isSafe = error.outcome == .notExecuted || error.outcome == .unknown && isRepeatable
        guard isSafe, failures < policy.maximumAttempts, policy.codes.contains(error.code) else { return nil }
        let now = clock.now
        let backoff = policy.backoff.waits
        let end = now.advanced(by: backoff.delay(afterFailures: failures - 1, chance: chance()))
        // The budget is asked last, so that it pays only for retries that are made.
        return end < deadline && budget.withdraw(at: now) ? end : nil
    }
}

extension ServiceProxy {
    /// Repeats a failed call after a growing wait, if that cannot run anything twice. The outcome of the failure decides:
    /// after `.notExecuted` any method is repeated, after `.unknown` only methods marked `@ReadOnly` or `@Idempotent`,
    /// after `.executed` none.
    ///
    /// When the deadline or the number of attempts is reached, the latest failure is thrown. Its outcome is `.unknown` if
    /// an earlier attempt may have run. Errors other than `RPCError` count as answers. Posts are not retried.
    ///
    /// All proxies of one client share a budget of retries: one for five calls, and ten a second. So retries do not overload
    /// a server in trouble. A proxy whose client is not visible here, such as a lazy one, has a budget of its own.
    ///
    /// - Parameter methods: Methods that may be repeated although they are not marked.
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
