// How a peer closes: it takes no more calls and posts, sends the posts that it has if there is time for that, and lets go of
// the rest. Callable from anywhere.

import JSONCodec
import RPCSockets
import RPCWire

extension Peer {
    /// Ends every pending call and loses every pending post, which the log is told. Calls and posts made later fail with
    /// `reason`. Does nothing the second time.
    package func close(_ reason: RPCError = .closed(outcome: .notExecuted)) {
        guard takeNoMore(reason, settled: {}) != nil else { return }
        end(because: reason.message)
    }

    /// Ends every pending call; calls and posts made later fail with `reason`. Pending posts are still sent until `end`, over
    /// this connection and others.
    /// - Parameter settled: called once when the last pending post is settled, unless `end` comes before; if none is pending
    ///   now it is never called.
    /// - Returns: how many posts are pending; nil if the peer is closed already.
    func takeNoMore(_ reason: RPCError, settled: @escaping @Sendable () -> Void) -> Int? {
        var (ended, refused, pending) = ([Waiter](), 0, 0)
        var timer: (any LoopTimer)?
        var watchers: [Int: @Sendable () -> Void] = [:]
        let after = state.withLock { state -> AfterLock? in
            guard state.closed == nil else { return nil }
            state.closed = reason
            (state.lostPosts, refused, state.refusedPosts) = (0, state.refusedPosts - 1, 0)
            swap(&timer, &state.timer)
            swap(&watchers, &state.onClosed)
            let removed = state.outgoing.removeAll()
            ended = state.waiters(of: removed) { wasSent in
                var error = reason
                if wasSent { error.outcome = .unknown }
                return .failed(error)
            }
            pending = state.pendingPosts
            guard pending > 0 else { return AfterLock() }
            state.onSettled = settled
            // Without posts the end of the session cancels them.
            var after = abandon(removed, &state)
            if let connection = state.connection {
                state.askForReport(connection)
                after.flush = connection
            }
            return after
        }
        guard let after else { return nil }
        timer?.cancel()
        finish(ended)
        if refused > 0 { log(Self.moreRefused(refused)) }
        for action in watchers.values { action() }
        after.perform(self)
        return pending
    }

    /// Lets go of the session and of all posts that are still pending, which the log is told.
    /// - Returns: how many posts were lost since no more are taken.
    @discardableResult
    func end(because why: String) -> Int {
        var lost = LostPosts()
        var leaving: [Connection] = []
        var why = why
        let (session, count) = state.withLock { state -> (Session?, Int) in
            if state.connection == nil, !why.contains(state.whyUnavailable) { why += "; \(state.whyUnavailable)" }
            lost = state.losePosts()
            state.abandoned = []
            swap(&leaving, &state.leaving)
            defer { (state.connection, state.session) = (nil, nil) }
            return (state.session, state.lostPosts)
        }
        tell(lost, because: why)
        for connection in leaving { connection.sayGoodbye() }
        if let session { loop.submit { session.end("closed at this end") } }
        return count
    }

    /// The other end has left in good order, so that posts for it are not wanted any more.
    func otherEndLeft() {
        state.withLock { _ = $0.losePosts() }
    }
}

extension Peer.State {
    /// The other end is to say which posts it has. The caller flushes.
    func askForReport(_ connection: Connection) {
        guard connection.isOurKind else { return }
        connection.append { MessageEncoder.writeNotification(SystemMethod.report, in: $0) }
    }

    fileprivate mutating func losePosts() -> LostPosts {
        let pending = pendingPosts
        posts.release(through: lastPostGiven)
        let lost = LostPosts(unsent: posts.count, unacknowledged: pending - posts.count)
        posts.removeAll()
        unsettled = [:]
        onSettled = nil
        lostPosts += lost.count
        return lost
    }
}

// MARK: being told

/// Has an action called once when a peer takes no more calls and posts: its session is over, or its client closed. Not on any
/// particular thread. An object that is let go before is not told, and leaves nothing behind at the peer.
final class PeerWatch: Sendable {
    private let peer: Peer
    private let number: Int

    /// Nil, and the action is never called, if the peer is closed already.
    init?(_ peer: Peer, _ closed: @escaping @Sendable () -> Void) {
        let number = peer.state.withLock { state -> Int? in
            guard state.closed == nil else { return nil }
            state.lastWatch += 1
            state.onClosed[state.lastWatch] = closed
            return state.lastWatch
        }
        guard let number else { return nil }
        (self.peer, self.number) = (peer, number)
    }

    deinit {
        // Let go outside the lock: what it holds may come back for it.
        _ = peer.state.withLock { $0.onClosed.removeValue(forKey: number) }
    }
}
