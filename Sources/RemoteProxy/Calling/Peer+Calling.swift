// The driver of `OutgoingCalls`: lock, feed the event, unlock, act. Callers come from any thread; replies, deadlines
// and losses come from the loop. Whoever takes a call out of the table resumes its caller, and nobody else.

import JSONCodec
import RPCWire
import Synchronization

extension Peer {
    /// Sends a call and waits for its end, however it ends.
    func perform(_ call: OutgoingCall) async -> CallEnd {
        await withTaskCancellationHandler {
            await withUnsafeContinuation { start(call, for: $0) }
        } onCancel: {
            cancel(call)
        }
    }

    private func start(_ call: OutgoingCall, for waiter: Waiter) {
        let deadline = self.deadline()
        var refusal: CallEnd?
        let after = state.withLock { state -> AfterLock in
            // The cancellation handler may have run before this call was in the table.
            refusal = call.isCancelled ? .cancelled : state.refusal(settings)
            guard refusal == nil else { return AfterLock() }
            call.waiter = waiter
            return enter(call, deadline: deadline, &state)
        }
        if let refusal { waiter.resume(returning: refusal) }
        after.perform(self)
    }

    /// Sends a post, or keeps it in its place among the waiting calls until there is a connection.
    func send(post call: OutgoingCall) {
        let deadline = self.deadline()
        let after = state.withLock { state -> AfterLock in
            guard state.refusal(settings) == nil else { return AfterLock() }
            return enter(call, deadline: deadline, &state)
        }
        after.perform(self)
    }

    private func enter(_ call: OutgoingCall, deadline: Instant, _ state: inout State) -> AfterLock {
        let ticket = state.outgoing.start(deadline: deadline)
        call.ticket = ticket
        state.hold(call, in: ticket.slot)
        var after = AfterLock()
        if let connection = state.connection {
            dispatch(call, ticket, over: connection, &state)
            after.flush = flushing(connection, isAlone: state.outgoing.count == 1 && !call.isPost, &state)
        } else {
            after.wantsConnection = true
        }
        if !call.isPost || state.connection == nil, deadline < state.wakeAt {
            state.wakeAt = deadline
            after.wakeAt = deadline
        }
        return after
    }

    /// Ends the message and puts it into the connection's outgoing queue.
    func dispatch(
        _ call: OutgoingCall, _ ticket: OutgoingCalls.Ticket, over connection: Connection, _ state: inout State
    ) {
        let message = call.message
        let open = message.count
        let id = call.isPost ? nil : ticket.id
        MessageEncoder.closeRequest(id: id, timeout: timeLeft(ticket, over: connection, state), in: message)
        let offset = connection.stream.append(message.bytes, framing: connection.outgoingFraming)
        guard !call.isPost else {
            _ = state.outgoing.withdraw(ticket)
            _ = state.take(ticket.slot)
            return
        }
        // Kept open: if the connection is lost before these bytes leave, the call goes out again.
        message.truncate(to: open)
        state.outgoing.sent(ticket, at: .init(stream: connection.number, offset: offset))
    }

    /// The time left in milliseconds, for a peer of our own kind, and only when it is not what the peer assumes.
    private func timeLeft(_ ticket: OutgoingCalls.Ticket, over connection: Connection, _ state: State) -> Int64? {
        guard connection.isOurKind, let deadline = state.outgoing.deadline(of: ticket), deadline < .distantFuture
        else { return nil }
        let left = loop.now.duration(to: deadline)
        // A call made just now under the default timeout has all of it left but for the microseconds since.
        guard settings.timeout - left > .milliseconds(1) else { return nil }
        // Rounded up: the caller is told by its own clock, and the peer then stops what nobody waits for.
        return max(0, left.nanoseconds / 1_000_000) + 1
    }

    private func cancel(_ call: OutgoingCall) {
        var waiter: Waiter?
        let after = state.withLock { state -> AfterLock in
            guard let ticket = call.ticket else {
                call.isCancelled = true
                return AfterLock()
            }
            guard let removed = state.outgoing.withdraw(ticket) else { return AfterLock() }
            waiter = state.take(ticket.slot)
            return abandon([removed], &state)
        }
        waiter?.resume(returning: .cancelled)
        after.perform(self)
    }

    /// A reply came in over one of this peer's connections.
    func replied(to id: RPCIdentifier, with end: CallEnd, over connection: Connection) {
        guard case .integer(let number) = id else { return }
        let (waiter, isLeft) = state.withLock { state -> (Waiter?, Bool) in
            guard let ticket = state.outgoing.replied(to: number) else { return (nil, false) }
            return (state.take(ticket.slot), state.connection !== connection)
        }
        waiter?.resume(returning: end)
        if isLeft { finishIfDone(connection) }
    }

    /// Closes a connection that takes no new calls as soon as nothing is awaited from it any more. On the loop.
    func finishIfDone(_ connection: Connection) {
        let isDone = state.withLock { state in
            state.connection !== connection && !state.outgoing.isWaiting(on: connection.number)
        }
        if isDone, connection.calls.count == 0 { connection.stream.finish() }
    }

    /// The peer refused a call before any work because it is going away: the call tries the next connection.
    func refused(_ id: RPCIdentifier, over connection: Connection) {
        defer { finishIfDone(connection) }
        guard case .integer(let number) = id else { return }
        let after = state.withLock { state -> AfterLock in
            guard let ticket = state.outgoing.refused(number), let call = state.calls[ticket.slot] else {
                return AfterLock()
            }
            guard let connection = state.connection else { return AfterLock(wantsConnection: true) }
            dispatch(call, ticket, over: connection, &state)
            return AfterLock(flush: .now(connection.stream))
        }
        after.perform(self)
    }

    /// A deadline may be due.
    func deadlineDue() {
        let now = loop.now
        var ended: [(Waiter, CallEnd)] = []
        let after = state.withLock { state -> AfterLock in
            let removed = state.outgoing.expire(at: now)
            let why = state.whyUnavailable
            ended = state.take(removed) { $0 ? .failed(.deadlineExceeded) : .failed(.unavailable(why)) }
            var after = abandon(removed, &state)
            state.wakeAt = state.outgoing.nextDeadline ?? .distantFuture
            if state.wakeAt < .distantFuture { after.wakeAt = state.wakeAt }
            return after
        }
        finish(ended)
        after.perform(self)
    }

    /// Tells the peer that nobody waits any more for the calls that were sent.
    private func abandon(_ removed: [OutgoingCalls.Removed], _ state: inout State) -> AfterLock {
        guard let connection = state.connection, removed.contains(where: \.wasSent) else { return AfterLock() }
        for call in removed where call.wasSent {
            connection.append { MessageEncoder.writeCancel(of: call.ticket.id, in: $0) }
        }
        return AfterLock(flush: .now(connection.stream))
    }

    func finish(_ ended: [(Waiter, CallEnd)]) {
        for (waiter, end) in ended { waiter.resume(returning: end) }
    }

    private func deadline() -> Instant {
        let own = loop.now.advanced(by: settings.timeout)
        return min(own, CallScope.current?.deadline ?? own)
    }
}

extension Peer {
    /// How a message just queued gets on its way. On the loop the stream flushes at the end of the turn. Elsewhere a
    /// lone caller writes at once; of several, one makes a task that flushes for all, behind the others that are ready
    /// to run, because a write for each would cost them far more than the wait.
    private func flushing(_ connection: Connection, isAlone: Bool, _ state: inout State) -> AfterLock.Flush {
        if isAlone || loop.isCurrent { return .now(connection.stream) }
        if state.isFlushShared { return .byAnother }
        state.isFlushShared = true
        return .forAll
    }

    fileprivate func flushForAll() {
        Task.detached(priority: Task.currentPriority) { [self] in
            let stream = state.withLock { state in
                state.isFlushShared = false
                return state.connection?.stream
            }
            stream?.flush()
        }
    }
}

/// What is to be done once the lock is free: calling out under it could come back for it.
struct AfterLock {
    enum Flush {
        case byAnother
        case now(any ByteStream)
        case forAll
    }

    var flush = Flush.byAnother
    var wantsConnection = false
    var wakeAt: Instant?

    func perform(_ peer: Peer) {
        switch flush {
        case .byAnother: break
        case .now(let stream): stream.flush()
        case .forAll: peer.flushForAll()
        }
        if let wakeAt { peer.wake(at: wakeAt) }
        if wantsConnection { peer.connectionWanted() }
    }
}
