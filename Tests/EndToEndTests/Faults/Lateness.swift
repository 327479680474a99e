// How late the machine itself is: what comes late on it by no more than that is not our fault.

import RPCSockets
import RPCWire
import TestSupport

final class Lateness: Sendable {
    private let worst = Lock(Duration.zero)
    private let watch = Lock<Task<Void, any Error>?>(nil)

    init() {
        let task = Task { [worst] in
            while true {
                let due = MonotonicClock.now.advanced(by: .milliseconds(5))
                // The one thing measured here is how late a sleep ends.
                try await Task.sleep(for: .milliseconds(5))
                let late = due.duration(to: MonotonicClock.now)
                worst.withLock { $0 = max($0, late) }
            }
        }
        watch.withLock { $0 = task }
    }

    /// Ends the watch and answers the worst it has seen.
    func stop() -> Duration {
        watch.withLock { $0?.cancel() }
        return worst.withLock { $0 }
    }
}
