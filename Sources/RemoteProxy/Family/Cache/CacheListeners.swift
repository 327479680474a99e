// Who wants to hear what becomes of which result.

import RPCSockets
import RPCWire

final class CacheListeners: Sendable {
    private struct Listener: Sendable {
        let hear: @Sendable (CacheNews) -> Void
        let finish: @Sendable () -> Void
    }

    private struct State {
        var next = 0
        var all: [CacheKey: [Int: Listener]] = [:]
    }

    private let state = Lock(State())

    deinit {
        // The cache is gone: there will be no more news.
        for listener in state.withLock({ $0.all.values.flatMap(\.values) }) { listener.finish() }
    }

    /// - Returns: the number to remove it by.
    func add(
        to key: CacheKey, hear: @escaping @Sendable (CacheNews) -> Void, finish: @escaping @Sendable () -> Void
    ) -> Int {
        state.withLock { state in
            state.next += 1
            state.all[key, default: [:]][state.next] = Listener(hear: hear, finish: finish)
            return state.next
        }
    }

    func remove(_ number: Int, from key: CacheKey) {
        // What the listener holds on to is let go outside the lock.
        _ = state.withLock { state in
            let removed = state.all[key]?.removeValue(forKey: number)
            if state.all[key]?.isEmpty == true { state.all[key] = nil }
            return removed
        }
    }

    func tell(_ news: CacheNews, about key: CacheKey) {
        let listeners = state.withLock { $0.all[key].map { Array($0.values) } ?? [] }
        for listener in listeners { listener.hear(news) }
    }
}
