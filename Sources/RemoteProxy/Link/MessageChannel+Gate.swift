// The driver of `Gate`. Tells the gate what the channel hears and when time has passed, and does what the gate decides: lets a
// peer in, sends a ping, or ends the connection. On the loop.

import JSONCodec
import RPCSockets
import RPCWire

extension MessageChannel {
    // MARK: coming in

    func openGate() {
        if gate.login.isLocked { frames.limits.maximumFrameSize = gate.settings.limits.loginInput }
        bookGate()
    }

    /// Called when the first bytes have come: lets a peer in that the channel knows.
    func meetPeer() {
        gate.hasMetPeer = true
        guard !isDialled, let proof = stream.peer else { return }
        gate.login.prove(proof)
        link.identity = gate.login.identity
        frames.limits = link.settings.limits.frames
    }

    /// Handles a message of a peer that has not proved its identity. All that such a peer may do is log in.
    func acceptLocked(_ message: Message) {
        switch message {
        case .request(let request):
            switch request.shortName {
            case SystemMethod.hello, SystemMethod.authenticate: link.accept(system: request, in: nil, over: self)
            // A peer without a login must not be able to write into the log either.
            default: if request.id != nil { link.answer(request.id, with: .unauthenticated, in: nil) }
            }
        case .unreadable(let request, let error):
            link.overran(error.limit)
            if request.id != nil { link.answer(request.id, with: .unauthenticated, in: nil) }
        case .invalid(let id, let error): link.answer(id, with: error, in: nil)
        case .result, .failure, .ignored: break
        case .batch: link.answer(.null, with: .unauthenticated, in: nil)
        case .refused(let error): refuseText(error)
        }
    }

    /// Judges the token of a hello or a login. False when its sender is not let in: the request is then answered here.
    func admitsLogin(of request: Request, showing token: String?) -> Bool {
        guard let tokens = gate.settings.tokens.withLock({ $0 }) else { return true }
        guard let token else {
            if gate.login.isLocked { link.answer(request.id, with: .unauthenticated, in: nil) }
            return !gate.login.isLocked
        }
        guard gate.login.show(tokens.entry(for: token)) else {
            turnAway(request)
            return false
        }
        link.identity = gate.login.identity
        link.entry = gate.login.entry
        frames.limits = link.settings.limits.frames
        gate.settings.traffic?.count { $0.loggedIn += 1 }
        return true
    }

    /// Refuses a wrong token, slowly: a peer that guesses waits for the answer, and connects again for its next guess.
    private func turnAway(_ request: Request) {
        close()
        gate.settings.traffic?.count { $0.failedLogins += 1 }
        link.log(LogRecord(.warning, "refused \(stream.remoteAddress): it has shown an unknown token"))
        stream.loop.schedule(at: stream.loop.now.advanced(by: gate.settings.limits.loginDelay)) { [self] in
            link.answer(request.id, with: .unknownToken, in: nil)
            stream.close()
        }
    }

    /// Handles `rpc.authenticate`, the login of foreign clients.
    func authenticate(_ request: Request, in batch: BatchReply?) {
        let shown: ShownToken
        do {
            shown = try ShownToken(of: SystemMethod.authenticate, request)
        } catch {
            let why = gate.login.isLocked ? .unauthenticated : ErrorObject(error)
            return link.answer(request.id, with: why, in: batch)
        }
        guard admitsLogin(of: request, showing: shown.token) else { return }
        link.answer(request.id, in: batch) { output in
            output.append(#"{"name":"#)
            if let name = gate.login.identity?.name { output.append(quoted: name) } else { output.append("null") }
            output.append("}")
        }
    }

    /// Whether an answer of `count` bytes may be sent. A peer without a login gets few bytes; beyond them its connection ends.
    func mayAnswer(_ count: Int) -> Bool {
        guard gate.login.isLocked, !gate.login.answers(count) else { return true }
        endGate(.loginOutput)
        return false
    }

    /// Called when the answer to this end's hello says that this end is not let in.
    func turnBack() {
        guard !isClosed, link.half.life.greeted() else { return }
        let why =
            link.settings.token == nil
            ? "\(stream.remoteAddress) admits no caller without a token: set \(Self.tokenOption)"
            : "\(stream.remoteAddress) does not know the token in \(Self.tokenOption)"
        close(because: why)
        // The next attempt would get the same answer. Callers are told now, since they can do something about it.
        link.requester.feed { $0.half.turnedAway(because: why) }
        tellOwner(self, .rejected(.unauthenticated, why: why))
        stream.abort()
    }

    private static let tokenOption = "RPCClient.Configuration.token"

    // MARK: bytes and pings of the peer

    func noteReceived(_ count: Int) {
        if gate.keepalive.noteReceived(at: stream.loop.now) { bookGate() }
        gate.frameTimeout.received(count)
        if gate.login.isLocked { gate.lockedInput += count }
    }

    /// Called when all bytes that have come have been looked at.
    func noteAllRead() {
        if gate.login.isLocked, !gate.login.received(gate.lockedInput) { return endGate(.loginInput) }
        gate.lockedInput = 0
        let isInside = frames.isInsideFrame
        if isInside || !input.reported.isZero { tellBytes() }
        guard isInside || !gate.frameTimeout.isAtRest else { return }
        gate.frameTimeout.looked(
            frames: frames.count, isInside: isInside, isTold: frames.framing != nil, at: stream.loop.now)
        if isInside { bookGate() }
    }

    /// Begins to ping the peer. Called when the peer has said hello or answered one, which shows that it answers pings.
    func keepAlive() {
        gate.keepalive.begin(at: stream.loop.now)
        bookGate()
    }

    /// Answers a ping of a peer that runs this library. A ping is no call: its answer has no number of the session and is not
    /// kept.
    func answerPing() {
        guard gate.admitsPing(at: stream.loop.now) else { return flooded(.maximumPings) }
        // A peer that pings in time, each time, is not pinged by this end.
        bookGate()
        append(MessageWriter.pong)
    }

    /// Answers a ping that comes as an ordinary request.
    func acceptPing(_ request: Request, in batch: BatchReply?) {
        guard gate.admitsPing(at: stream.loop.now) else { return flooded(.maximumPings) }
        link.answer(request.id, in: batch) { $0.append("null") }
    }

    private func append(_ message: StaticString) {
        append(UnsafeRawBufferPointer(start: message.utf8Start, count: message.utf8CodeUnitCount))
        stream.flush()
    }

    /// Notes that a request has begun, so that the connection counts as used.
    func noteAsked() { gate.noteUse(at: gate.keepalive.heard) }

    func cancelledNothing() {
        if !gate.admitsUnknownCancel(at: stream.loop.now) { flooded(.maximumUnknownCancels) }
    }

    private func flooded(_ limit: Limit) {
        guard !isClosed else { return }
        let why = gate.explanation(of: limit)
        link.answer(.null, with: ErrorObject(RPCError(.busy, why, outcome: .notExecuted)), in: nil)
        endGate(limit)
    }

    // MARK: time

    /// Sets the timer for the gate's next check. Incoming bytes usually move the due moment on, so the timer is not set anew
    /// for each of them: a timer that fires too early books the next one.
    private func bookGate() {
        let due = gate.due
        guard !isClosed, due < gateTimer?.due ?? .distantFuture else { return }
        gateTimer?.timer.cancel()
        // A strong reference, cancelled with the channel: weak references to the channel would make all others slow.
        gateTimer = (due, stream.loop.schedule(at: due) { [self] in gateDue() })
    }

    /// Called when the booked time has come.
    private func gateDue() {
        gateTimer = nil
        guard !isClosed else { return }
        let now = stream.loop.now
        if !input.isReading || !stream.isReading {
            gate.keepalive.noteReceived(at: now)
            gate.frameTimeout.excuse(at: now)
        }
        if link.half.calls.count > 0 || link.requester.pendingCalls > 0 { gate.noteUse(at: now) }
        switch gate.check(at: now) {
        case .wait: break
        case .ask:
            append(MessageWriter.ping)
        case .end(.idleTime):
            gate.settings.traffic?.overran(.idleTime)
            link.log(LogRecord(.notice, "drained \(stream.remoteAddress): \(gate.explanation(of: .idleTime))"))
            link.drain(over: self)
        case .end(let limit):
            endGate(limit)
        }
        bookGate()
    }

    // MARK: the end

    /// Ends the connection because of a limit: nothing more is read from it.
    func endGate(_ limit: Limit) {
        let why = gate.explanation(of: limit)
        guard close(because: why) else { return }
        gate.isSilent = limit == .keepaliveTimeout
        gate.settings.traffic?.overran(limit)
        link.log(LogRecord(.warning, "closed \(stream.remoteAddress): \(why)"))
        // A peer that does not answer would not close its end either.
        if limit == .keepaliveTimeout { stream.abort() } else { stream.close() }
    }

    /// Called when the stream has ended.
    func closeGate(_ end: ChannelEnd) {
        gateTimer?.timer.cancel()
        gateTimer = nil
        guard case .overrun(let limit, let why) = end else { return }
        gate.isSilent = limit == .keepaliveTimeout || limit == .patience
        gate.settings.traffic?.overran(limit)
        link.log(LogRecord(.warning, "closed \(stream.remoteAddress): \(why)"))
    }
}

/// The parameters of `rpc.authenticate`.
private struct ShownToken: Decodable {
    var token: String
}
