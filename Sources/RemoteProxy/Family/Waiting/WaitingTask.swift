// One task that waits in a subject: for an object to be made or bound, for its turn with a lock. It ends once, with what
// it waited for, at its deadline or by its cancellation, whichever comes first.

import RPCSockets
import RPCWire

final class WaitingTask<Turn: Sendable>: Sendable {
    /// Why a task waits no more without having got what it waited for.
    enum GivenUp: Error {
        case deadline
        case cancelled
    }

    private enum State {
        case beginning
        case waiting(UnsafeContinuation<Swift.Result<Turn, GivenUp>, Never>)
        /// Ended before it had begun to wait.
        case early(Swift.Result<Turn, GivenUp>)
        case ended
    }

    private let state = Lock(State.beginning)

    init() {}

    /// Waits for `end`, until the deadline or the cancellation of the calling task. Once per object.
    func wait(until deadline: Instant, on clock: any Loop) async throws(GivenUp) -> Turn {
        let timer = deadline < .distantFuture ? clock.schedule(at: deadline) { self.end(.failure(.deadline)) } : nil
        defer { timer?.cancel() }
        return try await withTaskCancellationHandler {
            await withUnsafeContinuation { park($0) }
        } onCancel: {
            end(.failure(.cancelled))
        }.get()
    }

    /// Gives the task what it waited for. False when it had given up before: then nobody has it.
    func end(with turn: Turn) -> Bool { end(.success(turn)) }

    /// Whether it has got what it waited for, or has given up.
    var isOver: Bool {
        state.withLock { state in
            switch state {
            case .beginning, .waiting: false
            case .early, .ended: true
            }
        }
    }

    private func park(_ continuation: UnsafeContinuation<Swift.Result<Turn, GivenUp>, Never>) {
        let early = state.withLock { state -> Swift.Result<Turn, GivenUp>? in
            guard case .early(let result) = state else {
                state = .waiting(continuation)
                return nil
            }
            state = .ended
            return result
        }
        if let early { continuation.resume(returning: early) }
    }

    @discardableResult
    private func end(_ result: Swift.Result<Turn, GivenUp>) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            switch state {
            case .beginning:
                state = .early(result)
                return (true, nil as UnsafeContinuation<Swift.Result<Turn, GivenUp>, Never>?)
            case .waiting(let continuation):
                state = .ended
                return (true, continuation)
            case .early, .ended:
                return (false, nil)
            }
        }
        continuation?.resume(returning: result)
        return isFirst
    }
}
