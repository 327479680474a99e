// Observing: reports every call and post when it is over, with its duration and its end.

import RPCSockets
package import RPCWire

/// Describes one call or post, as seen from the place of `observed` among the layers.
public struct CallEvent: Sendable {
    /// How a call or post ended. There may be more ends later.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum End: Sendable {
        /// With a result.
        case returned
        /// With an error: the subject's, an `RPCError`, or `CancellationError`.
        case threw(any Error)
        /// It was a post, whose end is not known.
        case posted
    }

    /// What was called; `rpc.hold` for `exclusively`.
    public let method: MethodSignature
    /// The caller at the other end; nil for a call that began in this process.
    public let caller: Caller?
    /// How long the subject took. For a post, how long its caller had to wait.
    public let duration: Duration
    /// How it ended.
    public let end: End
}

extension CallEvent: CustomStringConvertible {
    /// The event in one line: the method, the caller, the end and the duration.
    public var description: String {
        let origin = caller.map { " for \($0.address)" } ?? ""
        let what =
            switch end {
            case .returned: "returned"
            case .threw(let error): "threw \(error)"
            case .posted: "was posted"
            }
        return "\(method)\(origin) \(what) after \(duration)"
    }
}

struct ObservedSubject<Service: Sendable>: WrappingSubject, HoldableSubject {
    let next: any Subject<Service>
    /// The method that stands for taking the subject with `exclusively`.
    let hold: MethodSignature
    let report: @Sendable (CallEvent) -> Void
    /// Returns the present time at each call. A loop's clock does not: it stands still while a call runs on the loop.
    let clock: @Sendable () -> Instant

    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        try await observe(method.signature) { try await next.call(method, arguments) }
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        let began = clock()
        next.post(post, arguments, now: now)
        tell(post.signature, since: began, .posted)
    }

    /// Reports how long the caller waited for a hold, and whether it got one. Calls under the hold are reported like others.
    func takeHold(for lease: Duration) async throws -> Hold {
        try await observe(hold) { try await next.hold(for: lease) }
    }

    @inline(__always)
    private func observe<Result>(_ method: MethodSignature, _ body: () async throws -> Result) async throws -> Result {
        let began = clock()
        do {
            let result = try await body()
            tell(method, since: began, .returned)
            return result
        } catch {
            tell(method, since: began, .threw(error))
            throw error
        }
    }

    private func tell(_ method: MethodSignature, since began: Instant, _ end: CallEvent.End) {
        let duration = began.duration(to: clock())
        report(CallEvent(method: method, caller: Caller.current, duration: duration, end: end))
    }
}

extension ServiceProxy {
    /// Reports every call when it has ended, and every post when it has been passed on. Use it for logs, metrics and
    /// traces. Its place among the layers matters: outside `retrying` it reports one event for all attempts, inside one
    /// event for each.
    ///
    /// `exclusively` is reported as the method `rpc.hold`, with the time that the caller waited. Each call under the hold
    /// is reported too. `supports` is not a call, and is not reported.
    /// - Parameter report: Runs in the task of the call, which continues when it returns: keep it short.
    public func observed(_ report: @escaping @Sendable (CallEvent) -> Void) -> Self {
        observed(clock: { MonotonicClock.now }, report)
    }

    package func observed(
        clock: @escaping @Sendable () -> Instant, _ report: @escaping @Sendable (CallEvent) -> Void
    ) -> Self {
        Self(
            subject: ObservedSubject(
                next: proxySubject, hold: .hold(of: Self._methodTable.service.name), report: report, clock: clock))
    }
}
