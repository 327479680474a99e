// From a thread of ours to a waiting test. What the thread made goes through a lock on its way, so that ThreadSanitizer,
// which sees no order in a continuation, sees that the making came before the use.

import RPCSockets
package import RPCWire

/// Hands `body` a way to answer, and waits until it has been taken, once.
package func handedOver<Answer: Sendable>(_ body: (@escaping @Sendable (Answer) -> Void) -> Void) async -> Answer {
    let place = Lock<Answer?>(nil)
    await withCheckedContinuation { continuation in
        body { answer in
            place.withLock { $0 = answer }
            continuation.resume()
        }
    }
    guard let answer = place.withLock({ $0 }) else { fatalError("resumed without an answer") }
    return answer
}

extension Loop {
    /// Runs the body on the loop and waits for its result.
    package func perform<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) async -> Answer {
        await handedOver { answer in submit { answer(body()) } }
    }
}
