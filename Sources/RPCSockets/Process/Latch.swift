// Remembers that something is over, and does then what waits for that.

/// Calls actions once a number of things have been counted. Only the end of a child or of a copy waits so, never a call.
final class Latch: Sendable {
    private struct State {
        var awaited: Int
        var actions: [@Sendable () -> Void] = []
    }

    private let state: Lock<State>

    init(after count: Int = 1) { state = Lock(State(awaited: count)) }

    /// Counts one of the things. The last one calls the actions.
    func count() {
        let actions = state.withLock { state in
            state.awaited -= 1
            return state.awaited == 0 ? exchange(&state.actions, with: []) : []
        }
        for action in actions { action() }
    }

    /// Calls the action when all have been counted; at once if that is so.
    func whenDone(_ action: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state in
            if state.awaited > 0 { state.actions.append(action) }
            return state.awaited <= 0
        }
        if isDone { action() }
    }
}
