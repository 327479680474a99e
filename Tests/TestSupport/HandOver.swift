// From a thread of ours to a waiting test. What the thread made goes through a lock on its way, so that ThreadSanitizer,
// which sees no order in a continuation, sees that the making came before the use.

import RPCSockets
package import RPCWire

/// Hands `body` a way to answer, and waits until it has been taken, once.
/// - Throws: `CancellationError` when the test has run out of time: a test that waited on would keep the whole run from its end.
package func handedOver<Answer: Sendable>(
    _ body: (@escaping @Sendable (Answer) -> Void) -> Void
) async throws -> Answer {
    let place = HandOver<Answer>()
    await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
            if place.hasEnded(before: continuation) { continuation.resume() }
            body { place.end(.success($0)) }
        }
    } onCancel: {
        place.end(.failure(CancellationError()))
    }
    return try place.answer()
}

private final class HandOver<Answer: Sendable>: Sendable {
    private struct State {
        var end: Result<Answer, CancellationError>?
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Lock(State())

    func hasEnded(before continuation: CheckedContinuation<Void, Never>) -> Bool {
        state.withLock { state in
            if state.end == nil { state.continuation = continuation }
            return state.end != nil
        }
    }

    func end(_ end: Result<Answer, CancellationError>) {
        let continuation = state.withLock { state in
            if state.end == nil { state.end = end }
            return state.continuation.take()
        }
        continuation?.resume()
    }

    func answer() throws -> Answer {
        guard let end = state.withLock({ $0.end }) else { throw CancellationError() }
        return try end.get()
    }
}

extension Loop {
    /// Runs the body on the loop and waits for its result.
    package func perform<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async throws -> Answer {
        try await handedOver { answer in submit { answer(body()) } }
    }
}
