// What is to be done when a session is over. Made when it is first asked for.

import RPCSockets

final class SessionWatch: Sendable {
    private struct State {
        /// By their numbers, which count up; nil once the session is over.
        var actions: [Int: @Sendable () -> Void]? = [:]
        var lastNumber = 0
    }

    private let state = Lock(State())

    /// How many actions there are, for tests.
    var count: Int { state.withLock { $0.actions?.count ?? 0 } }

    /// Adds an action for the end of the session.
    /// - Returns: its number; nil if the session is over.
    func add(_ action: @escaping @Sendable () -> Void) -> Int? {
        state.withLock { state in
            guard state.actions != nil else { return nil }
            state.lastNumber += 1
            state.actions?[state.lastNumber] = action
            return state.lastNumber
        }
    }

    func remove(_ number: Int) {
        // The action is released outside the lock: what it holds may come back here.
        withExtendedLifetime(state.withLock { $0.actions?.removeValue(forKey: number) }) {}
    }

    /// Runs the actions, in the order in which they were added.
    func end() {
        let actions = state.withLock { $0.actions.take() } ?? [:]
        for (_, action) in actions.sorted(by: { $0.key < $1.key }) { action() }
    }
}
