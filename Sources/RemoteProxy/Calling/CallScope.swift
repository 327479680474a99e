// What a call inherits from the call it is made in: the deadline, who is calling, and what is held for it. One task-local
// for all, since every request pays for setting it.

package import RPCWire

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
