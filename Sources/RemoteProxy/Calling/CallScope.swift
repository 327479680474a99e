// What a call inherits from the call it is made in: the deadline, who is calling, and what is held for it. One task-local
// for all, since every request pays for setting it.

package import RPCWire

package struct CallScope: Sendable {
    package var deadline: Instant?
    package var caller: Caller?
    /// The holds under which the task calls.
    var rights: [Right] = []

    @TaskLocal package static var current: CallScope?

    package init(deadline: Instant? = nil, caller: Caller? = nil) {
        self.deadline = deadline
        self.caller = caller
    }

    /// What of it holds for something that is done later: on whose behalf, but neither the deadline nor the holds, since
    /// they end.
    var later: CallScope {
        var scope = CallScope(caller: caller)
        scope.rights = rights.filter { !$0.isHold }
        return scope
    }

    /// Runs the body under this scope, on the actor of the caller: the body would leave it if the closure that
    /// `withValue` gets did not capture the isolation.
    func entered<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await Self.$current.withValue(
            self,
            operation: {
                _ = isolation
                return try await body()
            }, isolation: isolation)
    }

    /// Whether the task holds an object exclusively, here or elsewhere.
    var hasHold: Bool { rights.contains(where: \.isHold) }
}
