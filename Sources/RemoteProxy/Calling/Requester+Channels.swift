// How channels and links come and go under a requester, and how the requester itself closes.

import JSONCodec
import RPCSockets
import RPCWire

extension Requester {
    /// A channel is ready: what waited goes out over it, in the order in which it was called. On the loop.
    func attach(_ channel: MessageChannel, _ beginning: CallerHalf.Beginning) {
        let now = loop.now
        let link = channel.link
        var former: Link?
        let isOpen = feed { state in
            let isOurKind = channel.isOurKind
            guard let effects = state.half.attach(channel.number, beginning, isOurKind: isOurKind, at: now) else {
                return nil
            }
            state.channel = channel
            if state.link !== link { former = state.link }
            state.link = link
            return effects
        }
        former?.end("the other end does not know it any more")
        // The channel may have queued its own messages before.
        if isOpen { channel.stream.flush() } else { channel.stream.abort() }
    }

    /// The other end takes no new calls over this channel, which ends once nothing is awaited from it any more.
    /// - Returns: false when it had been replaced before.
    func leave(_ channel: MessageChannel, why: String) -> Bool {
        feed { state in
            guard state.channel === channel else { return nil }
            (state.channel, state.link) = (nil, nil)
            state.leaving.append(channel)
            return state.half.leave(channel.number, because: why)
        }
    }

    /// The channel has ended. If its session goes on its calls wait for the next connection. If not, those of which a byte
    /// had left fail, except those that may be run twice; these and the others wait.
    func ended(_ channel: MessageChannel, sent: UInt64, why: String, sessionGoesOn: Bool) {
        let now = loop.now
        feed { state in
            if state.channel === channel { state.channel = nil }
            state.leaving.removeAll { $0 === channel }
            return state.half.lost(
                channel.number, sent: sent, because: why, sessionGoesOn: sessionGoesOn,
                isOurKind: state.channel?.isOurKind == true, at: now)
        }
    }

    /// There is no way back to the session of a link: its calls that may have arrived have no answer to wait for. On the loop.
    func linkEnded(_ link: Link, _ why: String) {
        feed { state in
            guard state.link === link, state.channel == nil else { return nil }
            state.link = nil
            return state.half.sessionEnded(why)
        }
    }

    /// What new calls belong to. It may have lost its channel, and go on over the next one.
    var link: Link? { state.withLock { $0.link } }
}

// MARK: what others ask and set

extension Requester {
    /// Asks the half something, or tells it something that leaves nothing to be done.
    func ask<Answer>(_ question: (inout CallerHalf) -> Answer) -> Answer { state.withLock { question(&$0.half) } }

    /// Has `dial` called whenever a call waits and there is no connection.
    func whenConnectionWanted(_ dial: @escaping @Sendable () -> Void) {
        state.withLock { $0.onWanted = dial }
    }

    /// Calls without an end yet; for tests and statistics.
    package var pendingCalls: Int { state.withLock { $0.half.pendingCalls } }
    /// Posts that the other end may not have; for tests and statistics.
    package var pendingPosts: Int { state.withLock { $0.half.pendingPosts } }
    /// Whether the other end can be had now, and whether the last attempt has failed.
    var reach: (isConnected: Bool, isUnreachable: Bool) {
        state.withLock { ($0.channel != nil && $0.closed == nil, $0.half.isUnreachable) }
    }
}

// MARK: the end; from anywhere

extension Requester {
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
    /// - Returns: how many posts are pending; nil if the requester is closed already.
    func takeNoMore(_ reason: RPCError, settled: @escaping @Sendable () -> Void) -> Int? {
        var pending = 0
        var timer: (any LoopTimer)?
        var watchers: [Int: @Sendable () -> Void] = [:]
        let isFirst = feed { state in
            guard let effects = state.half.close() else { return nil }
            state.closed = reason
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

    /// Lets go of the link and of all posts that are still pending, which the log is told.
    /// - Returns: how many posts were lost since no more are taken.
    @discardableResult
    func end(because why: String) -> Int {
        var lost = 0
        var link: Link?
        var leaving: [MessageChannel] = []
        feed { state in
            let effects = state.half.end(because: why)
            lost = state.half.lostPosts
            leaving = state.leaving
            swap(&link, &state.link)
            (state.channel, state.leaving, state.onSettled) = (nil, [], nil)
            return effects
        }
        for channel in leaving { channel.sayGoodbye() }
        if let link { loop.submit { link.end("closed at this end") } }
        return lost
    }
}

/// Has an action called once when a requester takes no more calls and posts: its session is over, or its client closed. Not
/// on any particular thread. A watch that is released before is not told, and leaves nothing behind.
final class ClosingWatch: Sendable {
    private let requester: Requester
    private let number: Int

    /// Nil, and the action is never called, if the requester is closed already.
    init?(_ requester: Requester, _ closed: @escaping @Sendable () -> Void) {
        let number = requester.state.withLock { state -> Int? in
            guard state.closed == nil else { return nil }
            state.lastWatch += 1
            state.onClosed[state.lastWatch] = closed
            return state.lastWatch
        }
        guard let number else { return nil }
        (self.requester, self.number) = (requester, number)
    }

    deinit {
        // Released outside the lock: what it holds may come back for it.
        _ = requester.state.withLock { $0.onClosed.removeValue(forKey: number) }
    }
}
