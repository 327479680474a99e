// A task on the loop that runs one request after the other, and what it uses for each of them again.

import JSONCodec
import RPCWire
import Synchronization

/// `@unchecked Sendable`: touched on the loop's thread only, but for what is atomic.
final class Worker: @unchecked Sendable {
    let runner: RequestRunner
    @exclusivity(unchecked) var task: Task<Void, Never>?
    /// Whether the task is, whoever has done it. Asked after every request, and the task itself takes longer to say.
    private let isCancelled = Atomic(false)
    var parked: UnsafeContinuation<Void, Never>?
    /// The reply being written, reused from request to request.
    let output = JSONOutput()
    /// What it runs. The task's own, also where the loop has gone on without it.
    @exclusivity(unchecked) var place = RequestPlace()

    init(of runner: RequestRunner) { self.runner = runner }

    /// A cancelled task stays cancelled.
    var isUsedUp: Bool { isCancelled.load(ordering: .relaxed) }

    /// From anywhere.
    func wasCancelled() { isCancelled.store(true, ordering: .relaxed) }

    func resume() {
        parked?.resume()
        parked = nil
    }
}
