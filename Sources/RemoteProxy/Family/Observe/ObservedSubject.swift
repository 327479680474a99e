// Observing: every call and post is reported when it is over, with how long it took and how it ended.

package import RPCWire

struct ObservedSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let report: @Sendable (CallEvent) -> Void
    /// Fresh at every reading, unlike a loop's: a call that runs in place on the loop takes time too.
    let clock: @Sendable () -> Instant

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let began = clock()
        do {
            let result = try await next.call(method, arguments)
            tell(method.signature, since: began, .returned)
            return result
        } catch {
            tell(method.signature, since: began, .threw(error))
            throw error
        }
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        let began = clock()
        next.post(post, arguments, now: now)
        tell(post.signature, since: began, .posted)
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
    /// - Parameter report: Runs in the task of the call, which goes on when it returns: keep it short.
    public func observed(_ report: @escaping @Sendable (CallEvent) -> Void) -> Self {
        observed(clock: { MonotonicClock.now }, report)
    }

    package func observed(
        clock: @escaping @Sendable () -> Instant, _ report: @escaping @Sendable (CallEvent) -> Void
    ) -> Self {
        Self(subject: ObservedSubject(next: proxySubject, report: report, clock: clock))
    }
}
