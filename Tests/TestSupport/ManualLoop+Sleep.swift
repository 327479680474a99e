// Waiting on the manual clock, for subjects and callers under test.

import RPCSockets
import RPCWire

extension ManualLoop {
    /// Returns when the clock has been moved that far; throws at once when the task is cancelled. Who learns from `asleep` that
    /// somebody sleeps can move the clock at once, from any thread: the timer is set by then.
    package func sleep(for duration: Duration, asleep: () -> Void = {}) async throws {
        let sleeper = Sleeper()
        let timer = schedule(at: now.advanced(by: duration)) { sleeper.wake() }
        asleep()
        await withTaskCancellationHandler {
            await withCheckedContinuation { sleeper.park($0) }
        } onCancel: {
            timer.cancel()
            sleeper.wake()
        }
        try Task.checkCancellation()
    }

    private final class Sleeper: Sendable {
        private struct State {
            var isAwake = false
            var continuation: CheckedContinuation<Void, Never>?
        }

        private let state = Lock(State())

        func park(_ continuation: CheckedContinuation<Void, Never>) {
            let isAwake = state.withLock { state in
                if !state.isAwake { state.continuation = continuation }
                return state.isAwake
            }
            if isAwake { continuation.resume() }
        }

        func wake() {
            let continuation = state.withLock { state in
                state.isAwake = true
                defer { state.continuation = nil }
                return state.continuation
            }
            continuation?.resume()
        }
    }
}
