// A call that a test has begun on the manual loop, and later looks at.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport

/// A call under way, and how it ended.
final class StartedCall: Sendable {
    private let place = Lock<Result<Int, any Error>?>(nil)
    private let task = Lock<Task<Void, Never>?>(nil)

    init(on loop: ManualLoop, within limit: Duration? = nil, _ call: @escaping @Sendable () async throws -> Int) {
        let deadline = limit.map { loop.now.advanced(by: $0) }
        let task = Task(executorPreference: loop) { [place] in
            await CallScope.with(CallScope(deadline: deadline)) {
                let result: Result<Int, any Error>
                do { result = .success(try await call()) } catch { result = .failure(error) }
                place.withLock { $0 = result }
            }
        }
        self.task.withLock { $0 = task }
    }

    var isOver: Bool { place.withLock { $0 != nil } }
    var value: Int? { place.withLock { try? $0?.get() } }
    var error: (any Error)? {
        place.withLock { result in
            if case .failure(let error) = result { error } else { nil }
        }
    }
    var rpcError: RPCError? { error as? RPCError }
    func cancel() { task.withLock { $0 }?.cancel() }
}
