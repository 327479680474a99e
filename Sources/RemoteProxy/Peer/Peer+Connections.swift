// How connections come and go under a peer, and how the peer itself ends.

import JSONCodec
import RPCSockets
import RPCWire
import Synchronization

extension Peer {
    /// How a connection begins: with a session of its own, or with one that goes on, of whose calls and posts the other
    /// end has all up to a number.
    enum Beginning {
        case anew
        case resumed(received: Int64)
    }

    /// The connection is ready: what waited goes out over it, in the order it was called. On the loop.
    func attach(_ connection: Connection, _ beginning: Beginning) {
        var ended: [Waiter] = []
        var former: Session?
        var lost = LostPosts()
        var lostPosts = 0
        var why = ""
        var settled: (@Sendable () -> Void)?
        let isOpen = state.withLock { state in
            guard state.closed == nil || state.onSettled != nil else { return false }
            state.connection = connection
            state.isUnreachable = false
            if state.session !== connection.session { former = state.session }
            state.session = connection.session
            switch beginning {
            case .anew:
                why = "\(state.whyUnavailable); the server does not know the session"
                (ended, lost) = state.beginAnew(because: why)
            case .resumed(let received): state.resume(over: connection, received)
            }
            // Made before it was known what the other end takes.
            for (id, waiting) in state.outgoing.waiting where state.isTooLarge(waiting.call) {
                guard let removed = state.outgoing.withdraw(id) else { continue }
                let error = RPCError.tooLarge(waiting.call.count, limit: state.frameLimit)
                ended += state.waiters(of: [removed]) { _ in .failed(error) }
            }
            lostPosts = sendWaiting(over: connection, &state)
            if state.onSettled != nil { state.askForReport(connection) }
            settled = state.takeSettled()
            return true
        }
        finish(ended)
        tell(lost, because: why)
        tellOfLost(posts: lostPosts)
        former?.end("the other end does not know it any more")
        if isOpen { connection.stream.flush() } else { connection.stream.abort() }
        settled?()
    }

    /// There is no way back to the session: its calls that may have arrived have no answer to wait for. On the loop.
    func sessionEnded(_ session: Session, _ why: String) {
        let (ended, lost, settled) = state.withLock { state -> ([Waiter], LostPosts, (@Sendable () -> Void)?) in
            guard state.session === session, state.connection == nil else { return ([], LostPosts(), nil) }
            state.session = nil
            let (ended, lost) = state.beginAnew(because: why)
            return (ended, lost, state.takeSettled())
        }
        finish(ended)
        tell(lost, because: why)
        settled?()
    }

    /// The session whose connection was lost and that a new connection may go on with. On the loop.
    var resumableSession: Session? {
        let session = state.withLock { $0.session }
        return session?.isResumable == true ? session : nil
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
            state.session = nil
            state.abandoned = []
            state.leaving.append(connection)
            let given = state.posts.numbers(through: state.lastPostGiven)
            state.posts.release(through: state.lastPostGiven)
            if !given.isEmpty {
                state.unsettled[connection.number] = given
                state.askForReport(connection)
            }
            return state.takeFinishedLeavers()
        }
        for connection in finished ?? [] { connection.finishWhenIdle() }
        return true
    }

    /// The connection has ended. If its session goes on its calls wait for the next connection. If not, those of which
    /// a byte had left fail, but for those that may be run twice; these and the others wait.
    func ended(_ connection: Connection, sent: UInt64, why: String, sessionGoesOn: Bool) {
        detach(connection, why: why)
        var ended: [Waiter] = []
        var lost = LostPosts()
        var lostPosts = 0
        var settled: (@Sendable () -> Void)?
        let after = state.withLock { state -> AfterLock in
            state.leaving.removeAll { $0 === connection }
            lost.unacknowledged = state.unsettled.removeValue(forKey: connection.number)?.count ?? 0
            state.lostPosts += lost.count
            defer { settled = state.takeSettled() }
            guard !sessionGoesOn else {
                state.outgoing.interrupted(stream: connection.number, sent: sent)
                return AfterLock()
            }
            ended = state.waiters(of: state.outgoing.lost(stream: connection.number, sent: sent)) { _ in
                .failed(.connectionLost(why))
            }
            state.relabelWaiting()
            guard let next = state.connection else {
                ended += endUnreachable(&state)
                return AfterLock()
            }
            lostPosts = sendWaiting(over: next, &state)
            return AfterLock(flush: next)
        }
        finish(ended)
        tell(lost, because: why)
        tellOfLost(posts: lostPosts)
        after.perform(self)
        settled?()
    }

    /// Why there is no connection now, told to callers that run out of time waiting.
    package func unavailable(because why: String) {
        state.withLock { $0.whyUnavailable = why }
    }

    /// No connection can be had for now: an attempt has failed, or the other end did not answer over the last one. Ends
    /// the calls that do not wait for the next attempt. A call that was sent is cancelled at the other end if its session
    /// is resumed later.
    func unreachable(because why: String) {
        let ended = state.withLock { state -> [Waiter] in
            guard state.connection == nil else { return [] }
            state.whyUnavailable = why
            state.isUnreachable = true
            return endUnreachable(&state)
        }
        finish(ended)
    }

    /// While the peer is unreachable: takes out the calls that do not wait for the next attempt to connect.
    func endUnreachable(_ state: inout State) -> [Waiter] {
        guard state.isUnreachable else { return [] }
        let why = state.whyUnavailable
        let removed = state.outgoing.withdrawWaiting { waiting, mayHaveArrived in
            switch waiting.call.whenUnreachable {
            case .waits: false
            case .endsIfSent: mayHaveArrived
            case .ends: true
            }
        }
        for call in removed where call.wasSent { rememberAbandoned(call.id, &state) }
        return state.waiters(of: removed) { .failed($0 ? .connectionLost(why) : .unreachable(why)) }
    }

    /// A connection is made, but not of use yet. If that stays so, callers are told, unless another one has failed before: then
    /// they are told why.
    func waitsForGreeting(from address: String) {
        state.withLock { state in
            guard state.whyUnavailable == State.noConnection else { return }
            state.whyUnavailable = "\(address) has taken the connection and not answered the greeting"
        }
    }

    /// Calls without an end yet; for tests and statistics.
    package var pendingCalls: Int { state.withLock { $0.outgoing.count } }
    /// Posts that the other end may not have; for tests and statistics.
    package var pendingPosts: Int { state.withLock { $0.pendingPosts } }
}

extension Peer.State {
    /// Another session begins. Of the former one's calls those that may have arrived have no answer to wait for; of its
    /// posts those that may have are not sent twice.
    fileprivate mutating func beginAnew(because why: String) -> (ended: [Waiter], lost: LostPosts) {
        abandoned = []
        let lost = LostPosts(unacknowledged: posts.release(through: lastPostGiven))
        lostPosts += lost.count
        let ended = waiters(of: outgoing.restarted()) { _ in .failed(.connectionLost(why)) }
        return (ended, lost)
    }

    /// The session goes on. What the other end has is not sent again, and what nobody waits for any more it is told.
    fileprivate mutating func resume(over connection: Connection, _ received: Int64) {
        posts.release(through: received)
        outgoing.resumed(over: connection.number, received: received)
        abandoned = abandoned.filter { $0 <= received }
        for id in abandoned { connection.append { MessageEncoder.writeCancel(of: id, in: $0) } }
    }

    /// Calls that wait may have new numbers.
    fileprivate mutating func relabelWaiting() {
        for (id, waiting) in outgoing.waiting { waiting.call.id = id }
    }
}
