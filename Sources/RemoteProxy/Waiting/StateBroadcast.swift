// Keeps the latest state and sends every change of it to all listeners.

import RPCSockets
import RPCWire

final class StateBroadcast<State: Sendable & Equatable>: Sendable {
    private struct Listeners {
        var latest: State?
        var isFinished = false
        var next = 0
        var continuations: [Int: AsyncStream<State>.Continuation] = [:]
    }

    private let listeners: Lock<Listeners>
    /// Held while a state is yielded, so that listeners get the states in the order in which they were set. `listeners` is not
    /// held then: yielding waits for the lock of a listening task, which the runtime holds while that task is cancelled and
    /// unsubscribes.
    private let order = Lock(())

    /// - Parameter state: nil if the present state is told later.
    init(_ state: State? = nil) {
        listeners = Lock(Listeners(latest: state))
    }

    /// A sequence that begins with the latest state. A listener that falls far behind misses the oldest changes, never the
    /// newest.
    func subscribe() -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(of: State.self, bufferingPolicy: .bufferingNewest(64))
        let key = order.withLock { _ in
            let (latest, key) = listeners.withLock { listeners -> (State?, Int?) in
                guard !listeners.isFinished else { return (listeners.latest, nil) }
                listeners.next += 1
                listeners.continuations[listeners.next] = continuation
                return (listeners.latest, listeners.next)
            }
            if let latest { continuation.yield(latest) }
            return key
        }
        guard let key else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.unsubscribe(key) }
        return stream
    }

    /// Whether anything reads the states as they come.
    var isRead: Bool { listeners.withLock { !$0.continuations.isEmpty } }

    /// - Parameter isNews: false if the state counts only as long as none is known.
    func send(_ state: State, isNews: Bool = true) {
        order.withLock { _ in
            let told = listeners.withLock { listeners -> [AsyncStream<State>.Continuation] in
                guard !listeners.isFinished, isNews ? listeners.latest != state : listeners.latest == nil else {
                    return []
                }
                listeners.latest = state
                return Array(listeners.continuations.values)
            }
            for continuation in told { continuation.yield(state) }
        }
    }

    func finish() {
        order.withLock { _ in
            let all = listeners.withLock { listeners in
                listeners.isFinished = true
                defer { listeners.continuations = [:] }
                return Array(listeners.continuations.values)
            }
            for continuation in all { continuation.finish() }
        }
    }

    private func unsubscribe(_ key: Int) {
        listeners.withLock { _ = $0.continuations.removeValue(forKey: key) }
    }
}
