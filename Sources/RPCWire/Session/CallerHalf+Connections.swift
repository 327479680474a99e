// How connections and sessions come and go under the calling half, and how the half itself ends.

extension CallerHalf {
    /// How a connection begins: with a session of its own, or with one that goes on, of whose calls and posts the other end
    /// has all up to a number.
    package enum Beginning: Sendable, Hashable {
        case anew
        case resumed(received: Int64)
    }

    /// A stream is ready: what waited goes out over it, in the order in which it was called.
    /// - Returns: nil if the half is closed and nothing is to be sent any more.
    package mutating func attach(
        _ stream: Int, _ beginning: Beginning, isOurKind: Bool, at now: Instant
    ) -> CallerEffects? {
        guard !isClosed || posts.isSettling else { return nil }
        var effects = CallerEffects()
        self.stream = stream
        isUnreachable = false
        hasSession = true
        switch beginning {
        case .anew:
            restart(because: "\(whyUnavailable); the server does not know the session", &effects)
        case .resumed(let received):
            posts.release(through: received)
            calls.resumed(over: stream, received: received)
            abandoned = abandoned.filter { $0 <= received }
            effects.cancels = abandoned.map { ($0, over: stream) }
        }
        // They began before it was known what the other end takes.
        let (longest, limit) = (longest, frameLimit)
        effects.ended += calls.withdrawWaiting { call, _ in call.length > longest }.map {
            CallerEffects.Ended(call: $0.handle, failure: .tooLarge($0.length, most: limit))
        }
        replay(isOurKind: isOurKind, at: now, &effects)
        if posts.isSettling { effects.reportOver = stream }
        effects.isSettled = posts.takeSettled()
        return effects
    }

    /// The session of the former connection is over, and no other connection has come.
    package mutating func sessionEnded(_ why: String) -> CallerEffects {
        var effects = CallerEffects()
        hasSession = false
        restart(because: why, &effects)
        effects.isSettled = posts.takeSettled()
        return effects
    }

    /// The other end takes no new calls over this stream. Nil when the stream had been replaced before.
    package mutating func leave(_ stream: Int, because why: String) -> CallerEffects? {
        guard detach(stream, because: why) else { return nil }
        var effects = CallerEffects()
        hasSession = false
        abandoned = []
        leaving.append(stream)
        if posts.leave(stream) { effects.reportOver = stream }
        effects.finished = takeFinished()
        return effects
    }

    /// A stream has ended. If its session goes on its calls wait for the next connection. If not, those of which a byte had
    /// left fail, except those that may be run twice; these and the others wait.
    /// - Parameters:
    ///   - sent: how many bytes of the stream had left.
    ///   - isOurKind: of the stream that new calls go to, if there is one.
    package mutating func lost(
        _ stream: Int, sent: UInt64, because why: String, sessionGoesOn: Bool, isOurKind: Bool, at now: Instant
    ) -> CallerEffects {
        var effects = CallerEffects()
        detach(stream, because: why)
        leaving.removeAll { $0 == stream }
        (effects.lost, effects.whyLost) = (posts.ended(stream), why)
        if sessionGoesOn {
            calls.interrupted(stream: stream, sent: sent)
        } else {
            let (removed, renumbered) = calls.lost(stream: stream, sent: sent)
            effects.end(removed) { _ in .connectionLost(why) }
            effects.renumbered = renumbered
            if self.stream == nil {
                endUnreachable(&effects)
            } else {
                replay(isOurKind: isOurKind, at: now, &effects)
            }
        }
        effects.isSettled = posts.takeSettled()
        return effects
    }

    /// No new calls go over this stream; replies to those already sent may still come. False when it had been replaced.
    @discardableResult
    package mutating func detach(_ stream: Int, because why: String) -> Bool {
        guard self.stream == stream else { return false }
        self.stream = nil
        reason = why
        return true
    }

    /// Why there is no connection now.
    package mutating func unavailable(because why: String) { reason = why }

    /// A connection is made and not of use yet. This is the reason for as long as no attempt has named another one.
    package mutating func waitsForGreeting(_ why: String) {
        if reason == nil { reason = why }
    }

    /// No connection can be had for now: an attempt has failed, or the other end did not answer over the last one. Ends the
    /// calls that do not wait for the next attempt. A call that was sent is cancelled if its session is resumed later.
    package mutating func unreachable(because why: String) -> CallerEffects {
        var effects = CallerEffects()
        guard stream == nil else { return effects }
        reason = why
        isUnreachable = true
        endUnreachable(&effects)
        return effects
    }

    /// The other end does not let this one in. Ends the calls that wait: the next attempt will be answered alike.
    package mutating func turnedAway(because why: String) -> CallerEffects {
        var effects = CallerEffects()
        effects.end(calls.withdrawWaiting { _, _ in true }) { .turnedAway(why, wasSent: $0) }
        return effects
    }

    /// Another session begins. Calls of the former one that may have arrived have no answer to wait for.
    private mutating func restart(because why: String, _ effects: inout CallerEffects) {
        abandoned = []
        (effects.lost, effects.whyLost) = (posts.restarted(), why)
        effects.end(calls.restarted()) { _ in .connectionLost(why) }
    }

    /// Sends the calls that wait, and the posts that the other end may not have, in the order of their numbers.
    private mutating func replay(isOurKind: Bool, at now: Instant, _ effects: inout CallerEffects) {
        var waiting = calls.waiting[...]
        let (messages, dropped) = posts.sendAll(at: now, longest: longest, isKept: isOurKind)
        effects.dropped = dropped
        for (number, message) in messages {
            while let (id, handle) = waiting.first, id < number {
                waiting.removeFirst()
                effects.sends.append(.call(handle, id: id))
            }
            effects.sends.append(.post(message, number: number))
        }
        for (id, handle) in waiting { effects.sends.append(.call(handle, id: id)) }
    }
}

// MARK: the end

extension CallerHalf {
    /// Takes no more calls and posts, and ends every pending call. Pending posts are still sent until `end`.
    /// - Returns: nil if it is closed already.
    package mutating func close() -> CallerEffects? {
        guard !isClosed else { return nil }
        isClosed = true
        var effects = CallerEffects()
        effects.untoldRefusals = posts.takeUntoldRefusals()
        posts.close()
        let removed = calls.removeAll()
        effects.end(removed) { .closed(wasSent: $0) }
        // Without posts the end of the session cancels the calls.
        guard posts.isSettling else { return effects }
        abandon(removed, &effects)
        effects.reportOver = stream
        return effects
    }

    /// Lets go of all streams, and gives up the posts that are still pending.
    package mutating func end(because why: String) -> CallerEffects {
        var effects = CallerEffects()
        let reason = whyUnavailable
        effects.whyLost = stream == nil && !why.contains(reason) ? "\(why); \(reason)" : why
        effects.lost = posts.loseAll()
        abandoned = []
        leaving = []
        stream = nil
        hasSession = false
        return effects
    }
}
