// Whether the other end of a connection can be had now, asked before a call is entrusted to it: a call that has begun to
// wait for a connection waits until its deadline.

import RPCWire

/// A class, so that a list of them costs little to look into.
final class FarEnd<Service: Sendable>: Sendable {
    private let remote: RemoteSubject<Service>

    init(_ remote: RemoteSubject<Service>) { self.remote = remote }

    var peer: Peer { remote.peer }
    /// What a call may take when its caller has set no deadline, in nanoseconds.
    var timeout: Int64 { peer.timeout }

    var isConnected: Bool { peer.reach.isConnected }

    /// Whether a task in that scope holds the object there.
    func isHeld(in scope: CallScope) -> Bool { remote.object(in: scope) != remote.object }

    /// Waits for the attempt to connect that is being made, or makes the first one. A client whose last attempt failed
    /// goes on trying by itself, and is not waited for.
    /// - Parameter others: how many may have to be asked after this one; each is left as much time as this one has.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    func isReachable(until deadline: Instant, leavingFor others: Int, on clock: any Loop) async throws -> Bool {
        let reach = peer.reach
        if reach.isConnected { return true }
        // Without a client it is the other end that connects.
        guard !reach.isUnreachable, let client = remote.owner as? RPCClient else { return false }
        peer.connectionWanted()
        let answer = WaitingTask<Bool>()
        let watching = Task(executorPreference: peer.loop) {
            for await state in client.states {
                switch state {
                case .idle, .connecting: continue
                case .connected: _ = answer.end(with: true)
                case .waiting, .closed: _ = answer.end(with: false)
                }
                return
            }
            _ = answer.end(with: false)
        }
        defer { watching.cancel() }
        do {
            let now = clock.now
            let end = now.advanced(byNanoseconds: now.nanoseconds(to: deadline) / Int64(others + 1))
            return try await answer.wait(until: end, on: clock)
        } catch {
            guard case .deadline = error else { throw CancellationError() }
            return false
        }
    }
}

extension Peer {
    fileprivate var reach: (isConnected: Bool, isUnreachable: Bool) {
        state.withLock { ($0.connection != nil && $0.closed == nil, $0.isUnreachable) }
    }
}
