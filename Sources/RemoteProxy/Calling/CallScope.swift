// What a call inherits from the call it is made in: the deadline, who is calling, and what is held for it. One task-local
// for all, since every request pays for setting it.

package import RPCWire

package struct CallScope: Sendable {
    package var deadline: Instant?
    package var caller: Caller?
    /// The holds under which the task calls.
    var rights: [Right] = []

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

    /// Whether the task holds an object exclusively, here or elsewhere.
    var hasHold: Bool { rights.contains(where: \.isHold) }
}

extension CallScope {
    /// Where a worker keeps the scope of the request that it serves, so that it need not bind anew what is another each
    /// time.
    ///
    /// `@unchecked Sendable`: only a `ServedScope` changes it, and only as long as no other task has it.
    final class Place: @unchecked Sendable {
        @exclusivity(unchecked) var scope: CallScope?
    }

    /// What a task is bound to.
    fileprivate enum Binding: Sendable {
        case scope(CallScope?)
        case place(Place)
    }

    @TaskLocal fileprivate static var binding = Binding.scope(nil)

    /// The scope of the running task; nil in one that serves nobody and has no time limit.
    package static var current: CallScope? {
        switch binding {
        case .scope(let scope): scope
        case .place(let place): place.scope
        }
    }

    /// Runs the body in another scope, or in none, on the actor of the caller.
    package static func with<Result>(
        _ scope: CallScope?, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await bind(.scope(scope), isolation: isolation, body)
    }

    /// The same for a body that does not wait.
    package static func with<Result>(_ scope: CallScope?, _ body: () throws -> Result) rethrows -> Result {
        try $binding.withValue(.scope(scope), operation: body)
    }

    /// Runs the body in this scope, on the actor of the caller.
    func entered<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await Self.bind(.scope(self), isolation: isolation, body)
    }

    /// Runs the body with the scope that stands in the place, whatever it is at the time.
    static func with(_ place: Place, _ body: () async -> Void) async {
        await bind(.place(place), isolation: nil, body)
    }

    private static func bind<Result>(
        _ binding: Binding, isolation: isolated (any Actor)?, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $binding.withValue(
            binding,
            operation: {
                // Captured, or the closure would leave the actor and come back for the result.
                _ = isolation
                return try await body()
            }, isolation: isolation)
    }
}
