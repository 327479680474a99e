// Observing: every call and post is reported when it is over, with how long it took and how it ended.

import RPCSockets
package import RPCWire

/// One call or post, seen from the place in the stack where `observed` stands.
public struct CallEvent: Sendable {
    /// How it ended.
    public enum Outcome: Sendable {
        /// With a result.
        case returned
        /// With an error: the subject's, an `RPCError`, or `CancellationError`.
        case threw(any Error)
        /// It was a post, which reports no end.
        case posted
    }

    /// What was called; `rpc.hold` when the subject was taken with `exclusively`.
    public let method: MethodSignature
    /// The caller at the other end; nil for a call that began in this process.
    public let caller: Caller?
    /// How long the subject took. For a post, how long its caller was kept waiting.
    public let duration: Duration
    /// How it ended.
    public let outcome: Outcome
}

extension CallEvent: CustomStringConvertible {
    /// What happened in one line: the method, the caller, the end and the duration.
    public var description: String {
        let origin = caller.map { " for \($0.address)" } ?? ""
        let end =
            switch outcome {
            case .returned: "returned"
            case .threw(let error): "threw \(error)"
            case .posted: "was posted"
            }
        return "\(method)\(origin) \(end) after \(duration)"
    }
}

struct ObservedSubject<Service: Sendable>: WrappingSubject, HoldableSubject {
    let next: any Subject<Service>
    /// How taking the subject for several calls is called.
    let hold: MethodSignature
    let report: @Sendable (CallEvent) -> Void
    /// Fresh at every reading, unlike a loop's clock: a call that runs on the loop itself takes time too.
    let clock: @Sendable () -> Instant

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

    /// Reports how long a hold was waited for, and whether it was had. Calls under the hold are reported like others.
    func takeHold(for lease: Duration) async throws -> Hold {
        try await observe(hold) { try await next.hold(for: lease) }
    }

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

    private func tell(_ method: MethodSignature, since began: Instant, _ outcome: CallEvent.Outcome) {
        let duration = began.duration(to: clock())
        report(CallEvent(method: method, caller: Caller.current, duration: duration, outcome: outcome))
    }
}

extension ServiceProxy {
    /// Reports every call when it has ended, and every post when it has been handed on. The one place where logs,
    /// metrics and traces plug in; where it stands in the stack decides what it sees: outside `retrying` one event for
    /// all attempts, inside one for each.
    ///
    /// Taking the subject with `exclusively` is reported as the method `rpc.hold`, with the time it was waited for, and
    /// so is each call made under the hold. Asking `supports` is no call and is not reported.
    /// - Parameter report: Runs in the task of the call, which goes on when it returns: keep it short.
    public func observed(_ report: @escaping @Sendable (CallEvent) -> Void) -> Self {
        observed(clock: { MonotonicClock.now }, report)
    }

    package func observed(
        clock: @escaping @Sendable () -> Instant, _ report: @escaping @Sendable (CallEvent) -> Void
    ) -> Self {
        Self(
            subject: ObservedSubject(
                next: proxySubject, hold: .hold(of: Self.methodTable.service.name), report: report, clock: clock))
    }
}
