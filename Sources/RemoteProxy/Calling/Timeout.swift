// How long calls may take, said around them.

import RPCSockets
import RPCWire

/// Gives every remote call made in `body` at most `duration` from now, all of them together.
///
/// Of several limits that apply — this one, one further out, the client's own, the deadline of the call being served —
/// the earliest holds. A call that runs out of time throws `RPCError` with the code `.deadlineExceeded`, or
/// `.unavailable` if there was no connection to send it on. Local work in `body` is not interrupted.
public func withTimeout<Result>(
    _ duration: Duration, _ body: () async throws -> Result
) async rethrows -> Result {
    var scope = CallScope.current ?? CallScope()
    let deadline = MonotonicClock.now.advanced(by: duration)
    scope.deadline = min(scope.deadline ?? deadline, deadline)
    return try await scope.entered(body)
}
