// Tasks that wait in a subject: for an object to be made or bound, for a result, for their turn with a lock.

import RPCSockets
import RPCWire

/// One task that waits. It ends once: with its turn, at its deadline or by its cancellation, whichever comes first.
final class WaitingTask<Turn: Sendable>: Sendable {
    private enum End {
        case turn(Turn)
        case deadline
        case cancelled
    }

    private enum State {
        case beginning
        case waiting(UnsafeContinuation<End, Never>)
        /// Ended before it had begun to wait.
        case early(End)
        case over
    }

    private let state = Lock(State.beginning)

    init() {}

    /// Waits for its turn. Once per object.
    /// - Returns: nil at the deadline.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    func wait(until deadline: Instant, on clock: any Loop) async throws(CancellationError) -> Turn? {
        let timer = deadline < .distantFuture ? clock.schedule(at: deadline) { _ = self.end(as: .deadline) } : nil
        defer { timer?.cancel() }
        let end = await withTaskCancellationHandler {
            await withUnsafeContinuation { park($0) }
        } onCancel: {
            _ = self.end(as: .cancelled)
        }
        switch end {
        case .turn(let turn): return turn
        case .deadline: return nil
        case .cancelled: throw CancellationError()
        }
    }

    /// Gives the task its turn. False when it had given up before.
    func end(with turn: Turn) -> Bool { end(as: .turn(turn)) }

    /// Whether it has had its turn or has given up.
    fileprivate var isOver: Bool {
        state.withLock { state in
            switch state {
            case .beginning, .waiting: false
            case .early, .over: true
            }
        }
    }

    private func park(_ continuation: UnsafeContinuation<End, Never>) {
        let early = state.withLock { state -> End? in
            guard case .early(let end) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .over
            return end
        }
        if let early { continuation.resume(returning: early) }
    }

    private func end(as end: End) -> Bool {
        let (isFirst, continuation) = state.withLock { state -> (Bool, UnsafeContinuation<End, Never>?) in
            switch state {
            case .beginning:
                state = .early(end)
                return (true, nil)
            case .waiting(let continuation):
                state = .over
                return (true, continuation)
            case .early, .over:
                return (false, nil)
            }
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

    /// Adds a task at the end. It is to be waited for without the lock.
    mutating func join() -> WaitingTask<Turn> {
        let task = WaitingTask<Turn>()
        // Otherwise a line that never moves would grow with every call.
        if tasks.count >= sweepAt {
            tasks.removeAll(where: \.isOver)
            sweepAt = max(64, tasks.count * 2)
        }
        tasks.append(task)
        return task
    }

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
