// Whether the other end of a connection can be had now, asked before a call is entrusted to it: a call that has begun to
// wait for a connection waits until its deadline.

import RPCSockets
import RPCWire

enum Reachability {
    /// Waits for the attempt to connect that is being made, or makes the first one. A client whose last attempt failed
    /// goes on trying by itself, and is not waited for.
    /// - Parameter others: how many may have to be asked after this one; each is left as much time as this one has.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    static func isReachable(
        _ end: RemoteEnd, until deadline: Instant, leavingFor others: Int, on clock: any Loop
    ) async throws -> Bool {
        if end.isConnected { return true }
        // Without a client it is the other end that connects.
        guard !end.isUnreachable, end.dials else { return false }
        end.connect()
        let now = clock.now
        let limit = now.advanced(byNanoseconds: now.nanoseconds(to: deadline) / Int64(others + 1))
        return try await firstState(of: [end], until: limit, on: clock) { _, state in
            switch state {
            case .idle, .connecting: nil
            case .connected: true
            case .waiting, .closed: false
            }
        }
    }

    /// Waits until one of the ends is connected. False when the time is over or all their clients are closed.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    static func waitForOne(
        of ends: [RemoteEnd], until deadline: Instant, on clock: any Loop
    ) async throws -> Bool {
        try await firstState(of: ends, until: deadline, on: clock) { end, state in
            switch state {
            case .idle, .connecting, .waiting, .closed: nil
            // The state is told a little after the connection is lost.
            case .connected: end.isConnected ? true : nil
            }
        }
    }

    /// The first verdict on a state, present or later, of the client of one of the ends. False when the time is over or all
    /// clients are closed.
    private static func firstState(
        of ends: [RemoteEnd], until deadline: Instant, on clock: any Loop,
        _ verdict: @escaping @Sendable (RemoteEnd, RPCClient.State) -> Bool?
    ) async throws -> Bool {
        let answer = WaitingTask<Bool>()
        let open = Lock(ends.count)
        let watching = ends.compactMap { end in
            end.states.map { states in
                Task(executorPreference: clock) {
                    for await state in states {
                        guard let verdict = verdict(end, state) else { continue }
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
        }
        defer { for task in watching { task.cancel() } }
        return try await answer.wait(until: deadline, on: clock) ?? false
    }
}
