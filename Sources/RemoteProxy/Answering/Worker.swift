// A task on the loop that runs one request after the other, and what it uses for each of them again.

import JSONCodec
import RPCWire

/// `@unchecked Sendable`: touched on the loop's thread only.
final class Worker: @unchecked Sendable {
    @exclusivity(unchecked) var task: Task<Void, Never>?
    var parked: UnsafeContinuation<Void, Never>?
    /// The reply being written, reused from request to request.
    let output = JSONOutput()
    /// What it runs. The task's own, also where the loop has gone on without it.
    @exclusivity(unchecked) var place = RequestPlace()
    /// What the request being served gives to those that it makes in turn.
    let scope = ServedScope()
    @exclusivity(unchecked) private var hasLostScope = false

    /// A cancelled task stays cancelled, and a scope that another task has cannot be changed.
    var isUsedUp: Bool { hasLostScope || task?.isCancelled == true }

    /// A request is over.
    func finished() {
        if !scope.end() { hasLostScope = true }
    }

    /// Nothing is left to do for now.
    func rests() {
        if !hasLostScope { scope.clear() }
    }

    func resume() {
        parked?.resume()
        parked = nil
    }
}
