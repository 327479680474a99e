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
        let now = loop.now
        let deadline = self.deadline(from: now)
        var refusal: CallEnd?
        let after = state.withLock { state -> AfterLock in
            // The cancellation handler may have run before this call was in the table.
            refusal = call.isCancelled ? .cancelled : state.refusal(of: call, settings).map { .failed($0) }
            if refusal == nil, deadline <= now { refusal = .failed(.noTimeLeft) }
            guard refusal == nil else { return AfterLock() }
            call.waiter = waiter
            return enter(call, deadline: deadline, &state)
        }
        if let refusal { waiter.resume(returning: refusal) }
        after.perform(self)
    }

    /// Sends a post, or keeps it in its place among the waiting calls until there is a connection.
    func send(post call: OutgoingCall) {
        let deadline = self.deadline(from: loop.now)
        var refusal: RPCError?
        let after = state.withLock { state -> AfterLock in
            refusal = state.refusal(of: call, settings)
            guard refusal == nil else {
                state.recycle(call)
                return AfterLock()
            }
            return enter(call, deadline: deadline, &state)
        }
        after.perform(self)
        if let refusal { log("a post was not sent: \(refusal)") }
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
        let (waiter, finished) = state.withLock { state -> (Waiter?, [Connection]) in
            let ticket = state.outgoing.replied(to: number, over: connection.number)
            return (ticket.flatMap { state.take($0.slot) }, state.takeFinishedLeavers())
        }
        waiter?.resume(returning: end)
        for connection in finished { connection.finishWhenIdle() }
    }

    /// The peer refused a call before any work because it is going away: the call tries the next connection.
    func refused(_ id: RPCIdentifier, over left: Connection) {
        guard case .integer(let number) = id else { return }
        let after = state.withLock { state -> AfterLock in
            guard let ticket = state.outgoing.refused(number, over: left.number), let call = state.calls[ticket.slot]
            else { return AfterLock() }
            var after = AfterLock(finished: state.takeFinishedLeavers())
            if let connection = state.connection {
                dispatch(call, ticket, over: connection, &state)
                after.flush = .now(connection.stream)
            } else {
                after.wantsConnection = true
            }
            return after
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
        let finished = state.takeFinishedLeavers()
        guard let connection = state.connection, removed.contains(where: \.wasSent) else {
            return AfterLock(finished: finished)
        }
        for call in removed where call.wasSent {
            connection.append { MessageEncoder.writeCancel(of: call.ticket.id, in: $0) }
        }
        return AfterLock(flush: .now(connection.stream), finished: finished)
    }

    /// Resumes callers whose calls have left the table.
    func finish(_ ended: [(Waiter, CallEnd)]) {
        for (waiter, end) in ended { waiter.resume(returning: end) }
    }

    private func deadline(from now: Instant) -> Instant {
        let own = now.advanced(by: settings.timeout)
        return min(own, CallScope.current?.deadline ?? own)
    }
}
