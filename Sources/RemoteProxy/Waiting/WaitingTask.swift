// Tasks that wait in a subject: for an object to be made or bound, for a result, or for their turn with a lock.

import RPCSockets
import RPCWire

/// One task that waits. Its wait ends once: with its turn, at its deadline or by its cancellation, whichever comes first.
final class WaitingTask<Turn: Sendable>: Sendable {
    /// Nil at the deadline.
    private typealias End = Swift.Result<Turn?, CancellationError>

    private struct State {
        var continuation: UnsafeContinuation<End, Never>?
        var end: End?
    }

    private let state = Lock(State())

    init() {}

    /// Waits for the turn. Call it only once for each object.
    /// - Returns: the turn; nil at the deadline.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    func wait(until deadline: Instant, on clock: any Loop) async throws(CancellationError) -> Turn? {
        let timer = deadline < .distantFuture ? clock.schedule(at: deadline) { _ = self.end(.success(nil)) } : nil
        defer { timer?.cancel() }
        let end = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                let end = state.withLock { state in
                    if state.end == nil { state.continuation = continuation }
                    return state.end
                }
                if let end { continuation.resume(returning: end) }
            }
        } onCancel: {
            _ = self.end(.failure(CancellationError()))
        }
        return try end.get()
    }

    /// Gives the task its turn. False when its wait had ended before.
    func end(with turn: Turn) -> Bool { end(.success(turn)) }

    /// Whether the task has had its turn or has given up.
    fileprivate var isOver: Bool { state.withLock { $0.end != nil } }

    private func end(_ end: End) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            guard state.end == nil else { return (false, nil as UnsafeContinuation<End, Never>?) }
            state.end = end
            return (true, state.continuation.take())
        }
        continuation?.resume(returning: end)
        return isFirst
    }
}

/// Tasks that wait for the same event, in the order in which they came. Part of its owner's locked state.
struct WaitingLine<Turn: Sendable> {
    private var tasks: [WaitingTask<Turn>] = []
    /// The length at which tasks that gave up are removed.
    private var sweepAt = 64

    /// Adds a task at the end. Release the owner's lock before you wait for it.
    mutating func join() -> WaitingTask<Turn> {
        let task = WaitingTask<Turn>()
        // Tasks that gave up are removed, or a line that never moves would grow with every call.
        if tasks.count >= sweepAt {
            tasks.removeAll(where: \.isOver)
            sweepAt = max(64, tasks.count * 2)
        }
        tasks.append(task)
        return task
    }

    var isEmpty: Bool { tasks.isEmpty }

    /// Removes all tasks and returns them in order.
    mutating func takeAll() -> [WaitingTask<Turn>] {
        defer { tasks = [] }
        return tasks
    }
}

extension Loop {
    /// The deadline of the running task, or the end of the timeout if it has none.
    func deadline(orAfter timeout: Duration) -> Instant {
        CallScope.current?.deadline ?? now.advanced(by: timeout)
    }
}
