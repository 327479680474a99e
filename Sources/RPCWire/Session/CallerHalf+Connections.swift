// How the calling half takes up and loses connections and sessions, and how the half itself ends.

extension CallerHalf {
    /// How a connection begins: with a new session, or with one that goes on. In the latter case the peer has all calls and
    /// posts up to the number `received`.
    package enum Beginning: Sendable, Hashable {
        case anew
        case resumed(received: Int64)
    }

    /// A channel is ready. `takeWaiting` returns what has waited for it, in the order in which it was called.
    /// - Returns: nil if the half is closed and has nothing to send any more.
    package mutating func attach(_ channel: Int, _ beginning: Beginning, at now: Instant) -> CallerEffects? {
        guard !isClosed || posts.isSettling else { return nil }
        var effects = CallerEffects()
        self.channel = channel
        isUnreachable = false
        hasSession = true
        var peerHas: Int64 = 0
        switch beginning {
        case .anew:
            restart(because: "\(unavailableReason); the server does not know the session", &effects)
        case .resumed(let received):
            peerHas = received
            posts.resumed(received: received)
            calls.resumed(over: channel, received: received)
            forgetAbandoned { $0 > received }
            effects.cancels = abandoned.keys.map { ($0, over: channel) }
        }
        // These calls began before the limit of the peer was known.
        let (longest, limit, why) = (longest, frameLimit, unavailableReason)
        effects.ended += calls.withdrawWaiting { call, _ in call.length > longest }.map {
            CallerEffects.Ended(
                call: $0.handle, failure: $0.wasSent ? .connectionLost(why) : .tooLarge($0.length, most: limit))
        }
        effects.dropped = posts.dropUnwanted(at: now, longest: longest)
        beginLine(received: peerHas)
        if posts.isSettling { effects.reportOver = channel }
        effects.isSettled = posts.takeSettled()
        return effects
    }

    /// The session of the former connection is over, and there is no other connection yet.
    package mutating func sessionEnded(_ why: String) -> CallerEffects {
        var effects = CallerEffects()
        hasSession = false
        restart(because: why, &effects)
        effects.isSettled = posts.takeSettled()
        return effects
    }

    /// The peer takes no new calls over this channel. Nil if another channel had replaced it before.
    package mutating func retire(_ channel: Int, because why: String) -> CallerEffects? {
        guard detach(channel, because: why) else { return nil }
        var effects = CallerEffects()
        hasSession = false
        forgetAbandoned { _ in true }
        retired.append(channel)
        effects.end(calls.withdrawWaiting { call, _ in call.isBound }) { $0 ? .connectionLost(why) : .objectGone }
        if posts.retire(channel) { effects.reportOver = channel }
        effects.finished = takeFinished()
        return effects
    }

    /// A channel has ended. If its session goes on, its calls wait for the next connection. If not, the calls of which a byte
    /// had left fail, except those that may run twice. All others wait.
    /// - Parameters:
    ///   - sent: how many bytes of the channel had left.
    package mutating func lost(
        _ channel: Int, sent: UInt64, because why: String, sessionGoesOn: Bool
    ) -> CallerEffects {
        var effects = CallerEffects()
        detach(channel, because: why)
        retired.removeAll { $0 == channel }
        (effects.lost, effects.lossReason) = (posts.ended(channel), why)
        if sessionGoesOn {
            calls.interrupted(channel: channel, sent: sent)
        } else {
            let (removed, renumbered) = calls.lost(channel: channel, sent: sent)
            effects.end(removed) { $0 ? .connectionLost(why) : .objectGone }
            effects.renumbered = renumbered
            if self.channel == nil {
                endUnreachable(&effects)
            } else {
                for call in renumbered { joinLine(call.id) }
            }
        }
        effects.isSettled = posts.takeSettled()
        return effects
    }

    /// New calls stop using this channel; replies to earlier calls may still come over it. False if the channel had been
    /// replaced.
    @discardableResult
    package mutating func detach(_ channel: Int, because why: String) -> Bool {
        guard self.channel == channel else { return false }
        self.channel = nil
        beginLine()
        reason = why
        return true
    }

    /// Sets the reason why there is no connection now.
    package mutating func unavailable(because why: String) { reason = why }

    /// A connection is made, but waits for its greeting. Sets this reason, unless an attempt to connect has already set
    /// another.
    package mutating func waitsForGreeting(_ why: String) {
        if reason == nil { reason = why }
    }

    /// There is no connection for now: an attempt has failed, or the peer did not answer over the last connection. Ends the
    /// calls that do not wait for the next attempt. If such a call was sent, the peer is told to stop it once the session is
    /// resumed.
    /// - Parameter isLasting: whether the next attempt would fail in the same way. Then all calls end that cannot have arrived;
    ///   the answers of the others may still come, since the session may go on.
    package mutating func unreachable(because why: String, isLasting: Bool = false) -> CallerEffects {
        var effects = CallerEffects()
        guard channel == nil else { return effects }
        reason = why
        isUnreachable = true
        endUnreachable(&effects, isLasting: isLasting)
        return effects
    }

    /// Earlier attempts to connect count no more: calls wait for the next one.
    package mutating func mayBeReached() { (isUnreachable, reason) = (false, nil) }

    /// The peer refuses connections of this end. Ends the calls that wait, because the next attempt would be refused too.
    package mutating func turnedAway(because why: String) -> CallerEffects {
        var effects = CallerEffects()
        effects.end(calls.withdrawWaiting { _, _ in true }) { .turnedAway(why, wasSent: $0) }
        return effects
    }

    /// Another session begins. Calls that may have arrived in the former session get no answer any more, so they end.
    private mutating func restart(because why: String, _ effects: inout CallerEffects) {
        forgetAbandoned { _ in true }
        (effects.lost, effects.lossReason) = (posts.restarted(), why)
        effects.end(calls.restarted()) { $0 ? .connectionLost(why) : .objectGone }
    }
}

// MARK: the end

extension CallerHalf {
    /// Takes no more calls and posts, and ends all pending calls. Pending posts are still sent until `end`.
    /// - Returns: nil if the half is closed already.
    package mutating func close() -> CallerEffects? {
        guard !isClosed else { return nil }
        isClosed = true
        var effects = CallerEffects()
        effects.untoldRefusals = posts.takeUntoldRefusals()
        posts.close()
        let removed = calls.removeAll()
        effects.end(removed) { .closed(wasSent: $0) }
        // Without pending posts the session ends now, and that cancels the calls.
        guard posts.isSettling else { return effects }
        abandon(removed, &effects)
        effects.reportOver = channel
        return effects
    }

    /// Forgets all channels, and gives up the posts that are still pending.
    package mutating func end(because why: String) -> CallerEffects {
        var effects = CallerEffects()
        let reason = unavailableReason
        effects.lossReason = channel == nil && !why.contains(reason) ? "\(why); \(reason)" : why
        effects.lost = posts.loseAll()
        forgetAbandoned { _ in true }
        retired = []
        channel = nil
        beginLine()
        hasSession = false
        return effects
    }
}
