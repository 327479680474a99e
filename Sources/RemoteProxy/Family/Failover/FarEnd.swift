// Whether the other end of a connection can be had now, asked before a call is entrusted to it: a call that has begun to
// wait for a connection waits until its deadline.

import RPCWire

struct FarEnd: Sendable {
    private let peer: Peer
    /// Who dials; nil where the other end does.
    private let client: RPCClient?

    init(_ peer: Peer, _ client: RPCClient?) {
        self.peer = peer
        self.client = client
    }

    var isConnected: Bool { peer.isConnected }

    /// Waits for the attempt to connect that is being made, or makes the first one. A client whose last attempt failed
    /// goes on trying by itself, and is not waited for.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    func isReachable(until deadline: Instant, on clock: any Loop) async throws -> Bool {
        if peer.isConnected { return true }
        guard let client else { return false }
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
            return try await answer.wait(until: deadline, on: clock)
        } catch {
            guard case .deadline = error else { throw CancellationError() }
            return false
        }
    }
}

extension Peer {
    fileprivate var isConnected: Bool { state.withLock { $0.connection != nil && $0.closed == nil } }
}
