// A subject that takes its time.

import Protocols
import Synchronization

/// Counts how many calls are in it, and takes its time even after it has been told to stop, as a subject may.
final class SlowEcho: Echo {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    func text(_ text: String) async throws -> String { text }
    func record(_ record: Record) async throws -> Record { record }
    func later(_ text: String, afterMilliseconds: Int) async throws -> String {
        counts.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
        }
        defer { counts.withLock { $0.now -= 1 } }
        for _ in 0..<20 { await Task.yield() }
        return text
    }
}
