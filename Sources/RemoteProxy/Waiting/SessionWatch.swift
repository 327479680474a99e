// What is asked for about one session: actions for its end, and its states. Made when it is first asked for.

import RPCSockets

final class SessionWatch: Sendable {
    private struct State {
        /// By their numbers, which count up; nil once the session is over.
        var actions: [Int: @Sendable () -> Void]? = [:]
        var lastNumber = 0
        /// Nil until it is asked for.
        var states: StateBroadcast<Caller.State>?
    }

    private let state = Lock(State())

    /// How many actions there are, for tests.
    var count: Int { state.withLock { $0.actions?.count ?? 0 } }

    /// Runs the action when the session is over, or at once if it is over already.
    /// - Returns: takes the action back.
    func whenGone(_ action: @escaping @Sendable () -> Void) -> Registration {
        let number = state.withLock { state -> Int? in
            guard state.actions != nil else { return nil }
            state.lastNumber += 1
            state.actions?[state.lastNumber] = action
            return state.lastNumber
        }
        guard let number else {
            action()
            return Registration()
        }
        return Registration { [self] in
            // The action is released outside the lock: what it holds may come back here.
            withExtendedLifetime(state.withLock { $0.actions?.removeValue(forKey: number) }) {}
        }
    }

    var states: StateBroadcast<Caller.State> {
        let (states, isOver) = state.withLock { state in
            let states = state.states ?? StateBroadcast()
            state.states = states
            return (states, state.actions == nil)
        }
        if isOver { finish(states) }
        return states
    }

    private func finish(_ states: StateBroadcast<Caller.State>) {
        states.send(.gone)
        states.finish()
    }

    /// - Parameter isNews: whether a state that was told before is replaced.
    func tell(_ latest: Caller.State, isNews: Bool) {
        state.withLock { $0.states }?.send(latest, isNews: isNews)
    }

    /// Tells that the session is over, and runs the actions in the order in which they were added.
    func end() {
        let (actions, states) = state.withLock { ($0.actions.take() ?? [:], $0.states) }
        if let states { finish(states) }
        for (_, action) in actions.sorted(by: { $0.key < $1.key }) { action() }
    }
}
