// How channels and links come and go under a requester, and how the requester closes.

import JSONCodec
import RPCSockets
import RPCWire
import Synchronization

extension Requester {
    /// Called when a connection is ready: what waited goes out over it, in the order in which the calls were made. On the loop.
    func attach(_ route: Route, of link: Link, _ beginning: CallerHalf.Beginning) {
        let now = loop.now
        var former: Link?
        var settled: [NamedObjects] = []
        let isOpen = feed { state in
            guard let effects = state.half.attach(route.number, beginning, at: now) else { return nil }
            state.route = route
            state.supported = [:]
            if state.link !== link { former = state.link }
            settled = state.objects.begin(beginning) { link.objects }
            state.link = link
            return effects
        }
        withExtendedLifetime(settled) {}
        former?.end("the other end does not know it any more")
        // Also sends messages that the channel has queued on its own.
        if isOpen { route.channel.flush() } else { route.channel.abort() }
    }

    /// The other end has said what it speaks.
    func learn(_ version: Int, of channel: any MessageChannel) {
        state.withLock { state in if state.route?.channel === channel { state.route?.version = version } }
    }

    /// Called when the other end takes no new calls over this channel. The channel ends once nothing is awaited from it any
    /// more.
    /// - Returns: false when another channel had replaced it before.
    func retire(_ channel: any MessageChannel, why: String) -> Bool {
        feed { state in
            guard let route = state.route, route.channel === channel else { return nil }
            (state.route, state.link) = (nil, nil)
            state.retired.append(route)
            return state.half.retire(route.number, because: why)
        }
    }

    /// Called when this end closes the channel and keeps the session. New calls wait for the next channel, and so do those that
    /// were sent once this one has ended.
    func leave(_ channel: any MessageChannel, why: String) {
        feed { state in
            guard let route = state.route, route.channel === channel else { return nil }
            state.route = nil
            state.half.detach(route.number, because: why)
            return CallerEffects()
        }
    }

    /// Called when the channel has ended. If its session goes on, its calls wait for the next connection. If not, calls of
    /// which a byte had left fail, unless they may be run twice. All others wait.
    func ended(_ channel: any MessageChannel, _ number: Int, sent: UInt64, why: String, sessionGoesOn: Bool) {
        feed { state in
            if state.route?.channel === channel { state.route = nil }
            state.retired.removeAll { $0.channel === channel }
            return state.half.lost(number, sent: sent, because: why, sessionGoesOn: sessionGoesOn)
        }
    }

    /// Tells the other end that this one will not come back, if it is known to run this library. From any thread.
    func sayGoodbye(over channel: any MessageChannel) {
        state.withLock { $0.route(over: channel) }?.sayGoodbye()
        channel.flush()
    }

    /// Called when there is no way back to the session of a link. Its calls that may have arrived get no answer any more. On
    /// the loop.
    func linkEnded(_ link: Link, _ why: String) {
        var settled: [NamedObjects] = []
        feed { state in
            guard state.link === link, state.route == nil else { return nil }
            state.link = nil
            settled = state.objects.end()
            return state.half.sessionEnded(why)
        }
        withExtendedLifetime(settled) {}
    }

    /// Tells the other end which of its objects this one needs no more. Called on any thread, once the other end can be told.
    @inline(never)
    func giveBack() {
        let (session, route) = state.withLock { state in
            (state.route.flatMap { _ in state.link?.objects }, state.route)
        }
        guard let session, let route else { return }
        if !route.listsObjects { return giveBack(of: session, to: route) }
        var hasMore = true
        while hasMore {
            let call = newCall(in: nil)
            call.target = session
            MessageWriter.openRequest(method: SystemMethod.release, in: call.message)
            hasMore = send(post: call, givingBackIn: session)
        }
    }

    /// Takes what is to be given back, and writes it. Under the lock, so that a call which is made later has a higher number.
    func takeReleased(
        of session: SessionObjects, into message: JSONOutput, _ state: inout State
    ) -> [SessionObjects.Released] {
        owesObjects.store(false, ordering: .relaxed)
        let most = min(Self.mostGivenBack, max(1, state.half.frameLimit / 64 - 2))
        let released = session.takeReleased(most)
        // Numbers cannot fail to encode.
        try? message.encode(released.map { [$0.handle, Int64($0.count)] })
        return released
    }

    /// Does the same with a peer that does not run this library.
    private func giveBack(of session: SessionObjects, to route: Route) {
        owesObjects.store(false, ordering: .relaxed)
        if route.version > 0 { return }
        for (handle, _) in session.takeReleased(.max) {
            route.channel.append { output in
                MessageWriter.openRequest(method: SystemMethod.releaseForeign, in: output)
                output.append(#"{"handle":"#)
                output.append(handle)
                output.append(#","ownedBySender":false}"#)
                MessageWriter.closeRequest(id: nil, timeout: nil, in: output)
            }
        }
        route.channel.flush()
    }

    /// How many objects are given back in one message.
    private static let mostGivenBack = 500

    /// The link that new calls belong to. It may have lost its channel, and go on over the next one.
    var link: Link? { state.withLock { $0.link } }
}

// MARK: questions and settings

extension Requester {
    /// Asks the half a question, or tells it something that has no effects.
    func ask<Answer>(_ question: (inout CallerHalf) -> Answer) -> Answer { state.withLock { question(&$0.half) } }

    /// What keeps the connection up, for a proxy that is to keep it up too. Set once.
    var owner: (any AnyObject & Sendable)? {
        get { state.withLock { $0.owner } }
        set { state.withLock { $0.owner = newValue } }
    }

    /// Has `dial` called whenever a call waits and there is no connection.
    func whenConnectionWanted(_ dial: @escaping @Sendable () -> Void) {
        state.withLock { $0.onWanted = dial }
    }

    /// How many calls have not ended; for tests and statistics.
    package var pendingCalls: Int { state.withLock { $0.half.pendingCalls } }
    /// How many posts the other end may not have; for tests and statistics.
    package var pendingPosts: Int { state.withLock { $0.half.pendingPosts } }
    /// Whether there is a connection now, and whether the last attempt at one has failed.
    var reach: (isConnected: Bool, isUnreachable: Bool) {
        state.withLock { ($0.route != nil && $0.closed == nil, $0.half.isUnreachable) }
    }
}

// MARK: closing; from any thread

extension Requester {
    /// Ends every pending call, and gives up every pending post, which the log is told. Calls and posts made later fail with
    /// `reason`. Does nothing the second time.
    package func close(_ reason: RPCError = .closed(outcome: .notExecuted)) {
        guard stopAccepting(reason, settled: {}) != nil else { return }
        end(because: reason.message)
    }

    /// Ends every pending call. Calls and posts made later fail with `reason`. Pending posts are still sent, over this
    /// connection and later ones, until `end` is called.
    /// - Parameter settled: called once when the last pending post is settled. Never called if none is pending now, or if `end`
    ///   comes first.
    /// - Returns: how many posts are pending; nil if the requester is closed already.
    func stopAccepting(_ reason: RPCError, settled: @escaping @Sendable () -> Void) -> Int? {
        var pending = 0
        var timer: (any LoopTimer)?
        var watchers: [Int: @Sendable () -> Void] = [:]
        let isFirst = feed { state in
            guard let effects = state.half.close() else { return nil }
            state.closed = Shared(reason)
            swap(&timer, &state.timer)
            swap(&watchers, &state.onClosed)
            pending = state.half.pendingPosts
            if pending > 0 { state.onSettled = settled }
            return effects
        }
        guard isFirst else { return nil }
        timer?.cancel()
        for action in watchers.values { action() }
        return pending
    }

    /// Ends the link, and gives up all posts that are still pending, which the log is told.
    /// - Parameter last: a channel that ends now, with a goodbye.
    /// - Returns: how many posts were lost since the requester closed.
    @discardableResult
    func end(because why: String, with last: (any MessageChannel)? = nil) -> Int {
        var lost = 0
        var link: Link?
        var ending: [Route] = []
        var settled: [NamedObjects] = []
        feed { state in
            settled = state.objects.end()
            let effects = state.half.end(because: why)
            lost = state.half.lostPosts
            ending = state.retired
            if let last { ending.append(state.route(over: last) ?? Route(last, 0, 0)) }
            swap(&link, &state.link)
            (state.route, state.retired, state.onSettled) = (nil, [], nil)
            return effects
        }
        withExtendedLifetime(settled) {}
        for route in ending {
            route.sayGoodbye()
            route.channel.close()
        }
        if let link { loop.submit { link.end("closed at this end") } }
        return lost
    }
}

extension Requester {
    /// Has an action called once when no more calls and posts are taken, because the session is over or the client closed. It is
    /// called on no particular thread.
    /// - Returns: takes the action back; if the requester closes at that very moment the action may still be called. Nil if it is
    ///   closed already; then the action is never called.
    func whenClosed(_ action: @escaping @Sendable () -> Void) -> Registration? {
        let number = state.withLock { state -> Int? in
            guard state.closed == nil else { return nil }
            state.lastWatch += 1
            state.onClosed[state.lastWatch] = action
            return state.lastWatch
        }
        guard let number else { return nil }
        return Registration { [self] in
            // The action is released outside the lock: what it holds may call the requester again.
            _ = state.withLock { $0.onClosed.removeValue(forKey: number) }
        }
    }
}
