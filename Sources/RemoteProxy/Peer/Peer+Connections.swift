// How connections come and go under a peer, and how the peer itself ends.

import RPCWire
import Synchronization

extension Peer {
    /// The connection is ready: what waited goes out over it, in the order it was called.
    package func attach(_ connection: Connection) {
        let stream = state.withLock { state -> (any ByteStream)? in
            guard state.closed == nil else { return nil }
            state.connection = connection
            for ticket in state.outgoing.waiting {
                if let call = state.calls[ticket.slot] { dispatch(call, ticket, over: connection, &state) }
            }
            return connection.stream
        }
        if let stream { stream.flush() } else { connection.stream.abort() }
    }

    /// No new calls go over this connection; replies to those already sent may still come. False when it had been
    /// replaced before.
    @discardableResult
    func detach(_ connection: Connection, why: String) -> Bool {
        state.withLock { state in
            guard state.connection === connection else { return false }
            state.connection = nil
            state.whyUnavailable = why
            return true
        }
    }

    /// The other end takes no new calls over this connection. False when it had been replaced before.
    func leave(_ connection: Connection, why: String) -> Bool {
        guard detach(connection, why: why) else { return false }
        let finished = state.withLock { state in
            state.leaving.append(connection)
            return state.takeFinishedLeavers()
        }
        for connection in finished { connection.finishWhenIdle() }
        return true
    }

    /// The connection has ended. Calls of which a byte had left fail; the others wait for the next one.
    func ended(_ connection: Connection, sent: UInt64, why: String) {
        detach(connection, why: why)
        let ended = state.withLock { state in
            state.leaving.removeAll { $0 === connection }
            return state.take(state.outgoing.lost(stream: connection.number, sent: sent)) { _ in
                .failed(.connectionLost(why))
            }
        }
        finish(ended)
    }

    /// Why there is no connection now, told to callers that run out of time waiting.
    package func unavailable(because why: String) {
        state.withLock { $0.whyUnavailable = why }
    }

    /// Ends everything pending at once. Calls made later fail at once with `reason`. Returns the connection that was
    /// in use.
    @discardableResult
    package func close(_ reason: RPCError = .closed(outcome: .notExecuted)) -> Connection? {
        var ended: [(Waiter, CallEnd)] = []
        var timer: (any LoopTimer)?
        var leaving: [Connection] = []
        var onClosed: [@Sendable () -> Void] = []
        let connection = state.withLock { state -> Connection? in
            guard state.closed == nil else { return nil }
            state.closed = reason
            swap(&timer, &state.timer)
            swap(&leaving, &state.leaving)
            swap(&onClosed, &state.onClosed)
            let removed = state.outgoing.removeAll()
            ended = state.take(removed) { wasSent in
                var error = reason
                if wasSent { error.outcome = .unknown }
                return .failed(error)
            }
            defer { state.connection = nil }
            return state.connection
        }
        timer?.cancel()
        finish(ended)
        for connection in leaving { connection.stream.finish() }
        for action in onClosed { action() }
        return connection
    }

    /// Runs the action when the peer is closed; at once if it is already.
    func whenClosed(_ action: @escaping @Sendable () -> Void) {
        let isClosed = state.withLock { state in
            if state.closed == nil { state.onClosed.append(action) }
            return state.closed != nil
        }
        if isClosed { action() }
    }

    /// A connection with that end begins.
    func serves(_ address: String) {
        state.withLock { $0.remoteAddress = address }
    }

    /// Where the other end calls from.
    var remoteAddress: String { state.withLock { $0.remoteAddress } }

    /// Calls without an end yet; for tests and statistics.
    package var pendingCalls: Int { state.withLock { $0.outgoing.count } }
}
