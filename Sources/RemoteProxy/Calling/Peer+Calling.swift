// The driver of `OutgoingCalls`: lock, feed the event, unlock, act. Callers come from any thread; replies, deadlines
// and losses come from the loop. Whoever takes a call out of the table resumes its caller, and nobody else.

import JSONCodec
import RPCSockets
import RPCWire
import Synchronization

extension Peer {
    /// Sends a call and waits for its end, however it ends.
    func perform(_ call: OutgoingCall) async -> CallEnd {
        await _RemoteCall(.passUnretained(call), through: self).run()
        extendLifetime(self)
        return call.comeBack()
    }

    /// A call in the scope of the running task, with nothing in its message yet.
    func newCall(in scope: CallScope? = .current) -> OutgoingCall {
        let call = spareCalls.take()
        guard let scope else { return call }
        if let deadline = scope.deadline { call.deadline = deadline }
        if let attempt = scope.attempt, attempt.peer == ObjectIdentifier(self) {
            call.whenUnreachable = attempt.whenUnreachable
        }
        return call
    }

    /// Enters a call that has begun into the table and sends it, if there is a connection, or refuses it
    /// at once. Either way its end is in the call when the waiter is resumed.
    func start(_ call: OutgoingCall, for waiter: Waiter) {
        let visit = call.visit
        let isOnLoop = visit.isOnLoop
        let now = loop.now
        call.begin(at: now, timeout)
        // Nobody else looks at it before the call is in the table.
        call.waiter = waiter
        var refusal: Refusal?
        let after = state.withLock { state -> AfterLock in
            // The cancellation handler may have run before this call was in the table.
            refusal = call.isCancelled ? .cancelled : state.refusal(of: call, settings)
            if refusal == nil, call.deadline <= now { refusal = .noTimeLeft }
            guard refusal == nil else { return AfterLock() }
            return enter(call, at: now, isOnLoop: isOnLoop, &state)
        }
        if let refusal {
            call.leave(refusal.error(call, self).map { .failed($0) } ?? .cancelled(wasSent: false))?.resume()
        }
        // The caller waits now, or has been refused and there is nothing to send.
        after.perform(self, isLast: true)
        runner.leave(visit)
    }

    private func enter(
        _ call: OutgoingCall, at now: Instant, isOnLoop: Bool, _ state: inout State
    ) -> AfterLock {
        // A failover repeats its calls itself.
        let isRepeatable = call.isRepeatable && call.whenUnreachable == .waits
        let id = state.outgoing.start(WaitingCall(call), deadline: call.deadline, isRepeatable: isRepeatable)
        call.id = id
        var after = AfterLock(wantsConnection: true)
        if let connection = state.connection {
            dispatch(call, id, over: connection, at: now, &state.outgoing)
            after = flushing(connection, atOnce: isOnLoop || state.outgoing.count == 1, &state)
        }
        if call.deadline < state.wakeAt {
            state.wakeAt = call.deadline
            after.wakeAt = call.deadline
        }
        return after
    }

    /// The task of the caller was cancelled, before the call has entered the table or later.
    func cancel(_ call: OutgoingCall) {
        var waiter: Waiter?
        let after = state.withLock { state -> AfterLock in
            guard let id = call.id else {
                call.isCancelled = true
                return AfterLock()
            }
            guard let removed = state.outgoing.withdraw(id) else { return AfterLock() }
            waiter = call.leave(.cancelled(wasSent: removed.wasSent))
            return abandon([removed], &state)
        }
        waiter?.resume()
        after.perform(self)
    }

    /// Replies came in over one of this peer's connections.
    func replied(_ replies: inout [CallReply], over connection: Connection) {
        var isOnlyOne = false
        let finished = state.withLock { state -> [Connection]? in
            let mayRelease = !state.posts.isEmpty && state.connection === connection
            for index in replies.indices {
                let number = replies[index].number
                // Whoever answers a call has all posts that were sent before it.
                if mayRelease { state.posts.release(through: number) }
                if let waiting = state.outgoing.replied(to: number, over: connection.number) {
                    replies[index].waiter = waiting.leave(&replies[index].end)
                } else {
                    state.abandoned.remove(number)
                }
            }
            isOnlyOne = replies.count == 1 && state.outgoing.count == 0
            return state.takeFinishedLeavers()
        }
        runner.answer(onlyOf: isOnlyOne ? ObjectIdentifier(self) : nil) {
            for index in replies.indices { replies[index].waiter?.resume() }
        }
        if let finished { for connection in finished { connection.finishWhenIdle() } }
    }

    /// The peer refused a call before any work because it is going away: the call tries the next connection.
    func refused(_ id: RPCIdentifier, over left: Connection) {
        guard case .integer(let number) = id else { return }
        let now = loop.now
        var ended: [Waiter] = []
        let after = state.withLock { state -> AfterLock in
            guard let (id, waiting) = state.outgoing.refused(number, over: left.number) else { return AfterLock() }
            waiting.call.id = id
            var after = AfterLock(finished: state.takeFinishedLeavers())
            if let connection = state.connection {
                dispatch(waiting.call, id, over: connection, at: now, &state.outgoing)
                after.flush = connection
            } else {
                after.wantsConnection = true
                ended = endUnreachable(&state)
            }
            return after
        }
        finish(ended)
        after.perform(self)
    }

    /// A deadline may be due.
    func deadlineDue() {
        let now = loop.now
        var ended: [Waiter] = []
        var leaving: [Connection] = []
        let after = state.withLock { state -> AfterLock in
            leaving = state.leaving
            let removed = state.outgoing.expire(at: now)
            let why = state.whyUnavailable
            let isLost = state.connection == nil && leaving.isEmpty
            ended = state.waiters(of: removed) { wasSent in
                .failed(wasSent ? .deadlineExceeded(isLost ? why : nil) : .unavailable(why))
            }
            var after = abandon(removed, &state)
            state.wakeAt = state.outgoing.nextDeadline ?? .distantFuture
            if state.wakeAt < .distantFuture { after.wakeAt = state.wakeAt }
            return after
        }
        finish(ended)
        after.perform(self)
        // Calls may have been given up over several connections.
        for connection in leaving { connection.stream.flush() }
    }

    /// Tells the peer that nobody waits any more for the calls that were sent.
    func abandon(_ removed: [OutgoingCalls<WaitingCall>.Removed], _ state: inout State) -> AfterLock {
        var after = AfterLock(finished: state.takeFinishedLeavers())
        for call in removed where call.wasSent {
            let connection = state.connection(of: call)
            if let connection {
                connection.append { MessageEncoder.writeCancel(of: call.id, in: $0) }
                after.flush = connection
            }
            // Until it is answered: if the connection is lost first, the other end is told again over the next.
            if connection == nil || connection === state.connection { rememberAbandoned(call.id, &state) }
        }
        return after
    }

    /// The call was sent. If its session is resumed, the other end is told over the next connection that it is abandoned.
    func rememberAbandoned(_ id: Int64, _ state: inout State) {
        if state.session != nil, state.abandoned.count < settings.maximumPendingCalls { state.abandoned.insert(id) }
    }

    /// Resumes callers whose calls have left the table.
    func finish(_ ended: [Waiter]) {
        for waiter in ended { waiter.resume() }
    }
}

#if KNOWN_RUNTIME
    extension OutgoingCall {
        /// What a call of a peer is told by that its task was cancelled.
        static func cancellationWatch() -> CancellationWatch {
            CancellationWatch { peer, call in
                guard let peer, let call else { return }
                let waiting = Unmanaged<OutgoingCall>.fromOpaque(call).takeUnretainedValue()
                Unmanaged<Peer>.fromOpaque(peer).takeUnretainedValue().cancel(waiting)
            }
        }
    }
#endif
