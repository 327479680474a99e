// What a call inherits from the call in which it is made: the deadline, the caller, and the rights of the task. One task-local
// for all of it, since every request pays for setting it.

import RPCSockets
package import RPCWire

/// What the running task is serving, and what its calls inherit.
package struct CallScope: Sendable {
    package var deadline: Instant?
    package var caller: Caller?
    /// The rights of the task. Of those to one object, each is inside the one before it.
    var rights: [any Right] = []
    /// What calls to one peer do when it becomes unreachable; set by a failover around the attempt at that peer.
    var attempt: FailoverAttempt?

    package init(deadline: Instant? = nil, caller: Caller? = nil) {
        self.deadline = deadline
        self.caller = caller
    }

    /// The part of it that holds for something that is done later: all but the deadline and the holds, since they end.
    var later: CallScope {
        var scope = CallScope(caller: caller)
        scope.rights = rights.filter { !$0.isHold }
        scope.attempt = attempt
        return scope
    }

    /// The same scope, with no more time than until then.
    func limited(to deadline: Instant) -> CallScope {
        var scope = self
        scope.deadline = min(self.deadline ?? deadline, deadline)
        return scope
    }

    /// Whether the task holds an object exclusively, here or elsewhere.
    var hasHold: Bool { rights.contains(where: \.isHold) }
}

extension CallScope {
    /// The scope of the running task; nil in one that serves no call and has no time limit. Never changed in place: a task that
    /// outlives the call in which it was begun keeps the scope of that call.
    @TaskLocal package static var current: CallScope?

    /// Runs the body in another scope, or in none, on the actor of the caller.
    package static func with<Result>(
        _ scope: CallScope?, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(
            scope,
            operation: {
                // Captured, or the closure would leave the actor and come back for the result.
                _ = isolation
                return try await body()
            }, isolation: isolation)
    }

    /// The same for a body that does not wait.
    package static func with<Result>(_ scope: CallScope?, _ body: () throws -> Result) rethrows -> Result {
        try $current.withValue(scope, operation: body)
    }

    /// Runs the body in this scope, on the actor of the caller.
    func entered<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await Self.with(self, isolation: isolation, body)
    }
}

/// Says in a scope what becomes of the calls to one end when it cannot be reached. Calls to other ends wait.
struct FailoverAttempt: Sendable {
    let requester: ObjectIdentifier
    let persistence: Persistence

    init(at requester: Requester, _ persistence: Persistence) {
        self.requester = ObjectIdentifier(requester)
        self.persistence = persistence
    }
}

// MARK: time limits

/// Gives every remote call made in `body` at most `duration` from now, all of them together.
///
/// Of several limits that apply the earliest holds: this one, one further out, the client's own, or the deadline of the
/// call being served. A call that runs out of time throws `RPCError` with the code `.deadlineExceeded`, or
/// `.unavailable` if there was no connection to send it on. Local work in `body` is not interrupted.
public func withTimeout<Result>(
    _ duration: Duration, _ body: () async throws -> Result
) async rethrows -> Result {
    let scope = (CallScope.current ?? CallScope()).limited(to: MonotonicClock.now.advanced(by: duration))
    return try await scope.entered(body)
}

/// When the call that a task makes or serves has to be over.
///
/// Every remote call made under a deadline ends by it and tells the other end how much is left, so that a subject which
/// calls another service passes on what it was given without writing a line. A subject that computes for long can ask:
///
/// ```swift
/// while let piece = pieces.next() {
///     if let deadline = Deadline.current, deadline.timeLeft < .milliseconds(5) { break }
///     result.add(piece)
/// }
/// ```
public struct Deadline: Sendable, Hashable {
    private let instant: Instant

    /// The deadline of the calling task: the earliest of the call being served and of every `withTimeout` around. Nil
    /// when none is set.
    public static var current: Deadline? {
        CallScope.current?.deadline.map(Deadline.init(instant:))
    }

    private init(instant: Instant) { self.instant = instant }

    /// How long until then, on the monotonic clock; negative when it has passed.
    public var timeLeft: Duration { MonotonicClock.now.duration(to: instant) }

    /// Whether it has passed. By then no caller waits for the result any more.
    public var hasPassed: Bool { timeLeft <= .zero }
}
