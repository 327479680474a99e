// Whether the other end of a connection can be had now, asked before a call is entrusted to it: a call that has begun to
// wait for a connection waits until its deadline.

import RPCSockets
import RPCWire

/// A class, so that a list of them costs little to look into.
final class FarEnd<Service: Sendable>: Sendable {
    private let remote: RemoteSubject<Service>

    init(_ remote: RemoteSubject<Service>) { self.remote = remote }

    var peer: Requester { remote.peer }
    /// What a call may take when its caller has set no deadline, in nanoseconds.
    var timeout: Int64 { peer.timeout }

    /// What dials; nil where the other end does.
    var client: RPCClient? { remote.owner as? RPCClient }

    var isConnected: Bool { peer.reach.isConnected }

    /// Whether a task in that scope holds the object there.
    func isHeld(in scope: CallScope) -> Bool { remote.object(in: scope) != remote.object }

    /// The failure of a call that has waited for a connection until its deadline.
    func outOfTime(mayHaveRun: Bool) -> RPCError {
        var error = RPCError.unavailable(peer.whyUnavailable)
        if mayHaveRun { error.outcome = .unknown }
        return error
    }

    /// Waits for the attempt to connect that is being made, or makes the first one. A client whose last attempt failed
    /// goes on trying by itself, and is not waited for.
    /// - Parameter others: how many may have to be asked after this one; each is left as much time as this one has.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    func isReachable(until deadline: Instant, leavingFor others: Int, on clock: any Loop) async throws -> Bool {
        let reach = peer.reach
        if reach.isConnected { return true }
        // Without a client it is the other end that connects.
        guard !reach.isUnreachable, let client else { return false }
        peer.connectionWanted()
        let now = clock.now
        let end = now.advanced(byNanoseconds: now.nanoseconds(to: deadline) / Int64(others + 1))
        return try await [client].firstState(until: end, on: clock) { _, state in
            switch state {
            case .idle, .connecting: nil
            case .connected: true
            case .waiting, .closed: false
            }
        }
    }
}

extension [RPCClient] {
    /// Waits until one of the clients is connected. False when the time is over or all clients are closed.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    func waitForOne(until deadline: Instant, on clock: any Loop) async throws -> Bool {
        try await firstState(until: deadline, on: clock) { client, state in
            switch state {
            case .idle, .connecting, .waiting, .closed: nil
            // The state is told a little after the connection is lost.
            case .connected: client.peer.reach.isConnected ? true : nil
            }
        }
    }

    /// The first verdict on a state, of now or later, of one of the clients; false when the time is over or all are closed.
    fileprivate func firstState(
        until deadline: Instant, on clock: any Loop,
        _ verdict: @escaping @Sendable (RPCClient, RPCClient.State) -> Bool?
    ) async throws -> Bool {
        let answer = WaitingTask<Bool>()
        let open = Lock(count)
        let watching = map { client in
            Task(executorPreference: client.peer.loop) {
                for await state in client.states {
                    guard let verdict = verdict(client, state) else { continue }
                    _ = answer.end(with: verdict)
                    return
                }
                // The client is closed.
                let isLast = open.withLock { open in
                    open -= 1
                    return open == 0
                }
                if isLast { _ = answer.end(with: false) }
            }
        }
        defer { for task in watching { task.cancel() } }
        return try await answer.wait(until: deadline, on: clock) ?? false
    }
}
