// The other end of a connection, as the subjects around a remote object see it.

import RPCSockets
import RPCWire

/// What a subject may know of the other end to which its calls go.
final class RemoteEnd: Sendable {
    private let requester: Requester
    let object: RemoteObject
    /// The client that dials; nil where the other end dials.
    private let client: RPCClient?

    init<Service>(_ remote: RemoteSubject<Service>) {
        requester = remote.requester
        object = remote.remoteObject(remote.reference)
        client = remote.owner as? RPCClient
    }

    /// How long a call may take when its caller has set no deadline, in nanoseconds.
    var timeout: Int64 { requester.timeout }

    /// The retries that are left to all calls of the client together; nil where the other end dials.
    var retryBudget: RetryBudget? { client?.retryBudget }

    /// Whether this end dials.
    var dials: Bool { client != nil }

    var isConnected: Bool { requester.reach.isConnected }

    /// The error of a call that has waited for a connection until its deadline.
    var outOfTime: RPCError { .unavailable(requester.ask { $0.unavailableReason }) }

    /// The same error if no call that waits now can have been sent; otherwise nil.
    var unsent: RPCError? {
        requester.ask { $0.isUnreachable && !$0.mayHaveSent ? .unavailable($0.unavailableReason) : nil }
    }

    /// Whether a task in that scope holds the object.
    func isHeld(in scope: CallScope) -> Bool { scope.rights.contains { ($0 as? RemoteHold)?.object == object } }

    /// What a call does when this end cannot be reached; for the call's scope.
    /// - Parameter isLast: whether no other end is left to ask. Then the call waits until it has been sent.
    func attempt(isLast: Bool) -> (requester: ObjectIdentifier, persistence: Persistence) {
        (ObjectIdentifier(requester), isLast ? .endsIfSent : .ends)
    }

    /// As `Requester.whenClosed`.
    func whenClosed(_ action: @escaping @Sendable () -> Void) -> Registration? { requester.whenClosed(action) }

    // MARK: waiting for a connection

    /// Whether a call can be sent soon. A call itself would wait for a connection until its deadline.
    ///
    /// Waits for the attempt to connect that is being made, or makes one. A client that waits after an attempt that failed is not
    /// waited for.
    /// - Parameter others: how many ends may have to be asked after this one; each is left as much time as this one has.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    func isReachable(until deadline: Instant, leavingFor others: Int, on clock: any Loop) async throws -> Bool {
        let reach = requester.reach
        if reach.isConnected { return true }
        guard !reach.isUnreachable, dials else { return false }
        requester.connectionWanted()
        let now = clock.now
        let end = now.advanced(byNanoseconds: now.nanoseconds(to: deadline) / Int64(others + 1))
        return try await Self.firstState(of: [self], until: end, on: clock) { end, state in
            switch state {
            case .idle: end.wanted()
            case .connecting: nil
            case .connected: true
            case .waiting, .paused, .closed: false
            }
        }
    }

    /// Waits until one of these ends, all of which dial, is connected. False when the time is over or all are closed.
    /// - Throws: `CancellationError` as soon as the calling task is cancelled.
    static func waitForOne(of ends: [RemoteEnd], until deadline: Instant, on clock: any Loop) async throws -> Bool {
        try await firstState(of: ends, until: deadline, on: clock) { end, state in
            switch state {
            case .idle: end.wanted()
            case .connecting, .waiting, .paused, .closed: nil
            // The sequence of states is a little late: the connection may be lost already.
            case .connected: end.isConnected ? true : nil
            }
        }
    }

    /// Has a program started that was left alone when nothing needed it. No verdict.
    private func wanted() -> Bool? {
        requester.connectionWanted()
        return nil
    }

    /// The first verdict that is not nil, on the present and later states of the ends' clients. False when the time is over or
    /// all clients are closed.
    private static func firstState(
        of ends: [RemoteEnd], until deadline: Instant, on clock: any Loop,
        _ verdict: @escaping @Sendable (RemoteEnd, RPCClient.State) -> Bool?
    ) async throws -> Bool {
        let answer = WaitingTask<Bool>()
        let open = Lock(ends.count)
        let watching = ends.map { end in
            Task(executorPreference: end.requester.loop) {
                if let client = end.client {
                    for await state in client.states {
                        guard let verdict = verdict(end, state) else { continue }
                        _ = answer.end(with: verdict)
                        return
                    }
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

extension Subject {
    /// The other end that this chain leads to; nil while none is known.
    var remoteEnd: RemoteEnd? {
        for layer in layers { if let end = layer as? RemoteSubject<Service> { return RemoteEnd(end) } }
        return nil
    }

    /// The other end, if no layer is in front of it that could call it twice.
    var nextRemoteEnd: RemoteEnd? { (self as? RemoteSubject<Service>).map { RemoteEnd($0) } }

    /// The other end to which all calls of this chain go. Nil where that is not known, or may be another end later: behind a
    /// lazy or late-bound proxy, and among several ends.
    var onlyRemoteEnd: RemoteEnd? {
        var end: any Subject<Service> = self
        // Limited, because a chain may lead back to itself.
        for _ in 0..<1_000 {
            guard let layer = end as? any WrappingSubject<Service> else { break }
            end = layer.next
        }
        return (end as? RemoteSubject<Service>).map { RemoteEnd($0) }
    }
}
