// The driver of `Gate`: tells it what the connection hears and asks it when time has passed, and does what it decides:
// lets in, asks, or ends. On the loop.

import JSONCodec
import RPCSockets
import RPCWire

extension Connection {
    // MARK: coming in

    func openGate() {
        if let identity = gate.login.identity { peer.identity = identity }
        if gate.login.isLocked { frames.limits.maximumFrameSize = gate.settings.limits.loginInput }
        bookGate()
    }

    /// All that a peer may do before it has shown who it is: log in.
    func acceptLocked(_ incoming: Incoming) {
        switch incoming {
        case .single(.request(let request)):
            switch request.method.description {
            case SystemMethod.hello, SystemMethod.authenticate: accept(system: request, in: nil)
            // Strangers write nothing into the log either.
            default: if request.id != nil { session.answer(request.id, with: .unauthenticated, in: nil) }
            }
        case .single(.unreadable(let request, let error)):
            session.overran(error.limit)
            if request.id != nil { session.answer(request.id, with: .unauthenticated, in: nil) }
        case .single(.invalid(let id, let error)): session.answer(id, with: error, in: nil)
        case .single: break
        case .batch: session.answer(.null, with: .unauthenticated, in: nil)
        case .refused(let error): refuseText(error)
        }
    }

    /// Judges what a hello or a login shows. False when its sender is not let in; then it has been answered.
    func lets(in request: Request, showing token: String?) -> Bool {
        guard let tokens = gate.settings.tokens.withLock({ $0 }) else { return true }
        guard let token else {
            if gate.login.isLocked { session.answer(request.id, with: .unauthenticated, in: nil) }
            return !gate.login.isLocked
        }
        guard gate.login.show(tokens.entry(for: token)) else {
            turnAway(request)
            return false
        }
        peer.identity = gate.login.identity
        session.entry = gate.login.entry
        frames.limits = peer.settings.limits.frames
        gate.settings.traffic?.count { $0.loggedIn += 1 }
        return true
    }

    /// Whoever guesses has to wait for the answer, and to connect again for the next guess.
    private func turnAway(_ request: Request) {
        _ = phase.closed()
        gate.settings.traffic?.count { $0.failedLogins += 1 }
        peer.log("refused \(stream.remoteAddress): it has shown a token that nobody has")
        stream.loop.schedule(at: stream.loop.now.advanced(by: gate.settings.limits.loginDelay)) { [self] in
            session.answer(request.id, with: .unauthenticated, in: nil)
            stream.close()
        }
    }

    /// `rpc.authenticate`, the login of foreign clients.
    func authenticate(_ request: Request, in batch: BatchReply?) {
        let shown: ShownToken
        do {
            shown = try ShownToken(of: SystemMethod.authenticate, request)
        } catch {
            let why = gate.login.isLocked ? .unauthenticated : ErrorObject(error)
            return session.answer(request.id, with: why, in: batch)
        }
        guard lets(in: request, showing: shown.token) else { return }
        session.answer(request.id, in: batch) { output in
            output.append(#"{"name":"#)
            if let name = gate.login.identity?.name { output.append(quoted: name) } else { output.append("null") }
            output.append("}")
        }
    }

    /// Before an answer is sent: those who are not in get little.
    func mayAnswer(_ count: Int) -> Bool {
        guard gate.login.isLocked, !gate.login.answers(count) else { return true }
        endGate(.loginOutput, gate.explanation(of: .loginOutput))
        return false
    }

    /// Whether the answer to this end's hello is that it may not come in.
    func isTurnedAway(_ error: ErrorObject) -> Bool { error.code == ErrorCode.unauthenticated }

    func turnBack() {
        guard phase.greeted() else { return }
        let why = "\(stream.remoteAddress) lets nobody in without a token that it knows: set \(Self.tokenOption)"
        gate.verdict = why
        peer.turnedAway(because: why)
        stream.abort()
    }

    private static let tokenOption = "RPCClient.Configuration.token"

    // MARK: what is heard

    func heard(_ count: Int) {
        if gate.keepalive.heard(at: stream.loop.now) { bookGate() }
        gate.arrival.received(count)
        if gate.login.isLocked { lockedInput += count }
    }

    /// All that has come has been looked at.
    func looked() {
        if gate.login.isLocked, !gate.login.received(lockedInput) {
            return endGate(.loginInput, gate.explanation(of: .loginInput))
        }
        lockedInput = 0
        let isInside = frames.isInsideFrame
        guard isInside || !gate.arrival.isAtRest else { return }
        gate.arrival.looked(
            frames: frames.count, isInside: isInside, isTold: frames.framing != nil, at: stream.loop.now)
        if isInside { bookGate() }
    }

    /// The peer has said hello, or answered it: it knows what a ping is.
    func keepAlive() {
        gate.keepalive.begin(at: stream.loop.now)
        bookGate()
    }

    /// One of our own kind asks whether anybody is there. That is no call: the answer has no number and is not kept.
    func answerPing() {
        guard gate.admitsPing(at: stream.loop.now) else { return flooded(.maximumPings) }
        // Who asks in time, each time, need not be looked at.
        bookGate()
        append(MessageEncoder.pong)
    }

    /// Anybody else asks.
    func acceptPing(_ request: Request, in batch: BatchReply?) {
        guard gate.admitsPing(at: stream.loop.now) else { return flooded(.maximumPings) }
        session.answer(request.id, in: batch) { $0.append("null") }
    }

    private func append(_ message: StaticString) {
        let bytes = UnsafeRawBufferPointer(start: message.utf8Start, count: message.utf8CodeUnitCount)
        channel.append(bytes)
        stream.flush()
    }

    func noteAsked() { gate.isUsed(at: gate.keepalive.heard) }

    func cancelledNothing() {
        if !gate.admitsUnknownCancel(at: stream.loop.now) { flooded(.maximumUnknownCancels) }
    }

    private func flooded(_ limit: Limit) {
        guard phase.step != .over else { return }
        let why = gate.explanation(of: limit)
        session.answer(.null, with: ErrorObject(RPCError(.busy, why, outcome: .notExecuted)), in: nil)
        endGate(limit, why)
    }

    // MARK: time

    /// Sees to it that the gate is looked at when it is due. Things mostly happen before, and then the due moment has
    /// moved on when the time comes: it is not told anew for each.
    private func bookGate() {
        if phase.step != .over { peer.runner.rounds.look(at: self, when: gate.due) }
    }

    /// The time that was booked has come.
    func gateDue() {
        guard phase.step != .over else { return }
        let now = stream.loop.now
        if reading != .now || !stream.isReading {
            gate.keepalive.heard(at: now)
            gate.arrival.excuse(at: now)
        }
        if session.calls.count > 0 || peer.pendingCalls > 0 { gate.isUsed(at: now) }
        switch gate.check(at: now) {
        case .wait: break
        case .ask:
            append(MessageEncoder.ping)
        case .end(.idleTime, let why):
            gate.settings.traffic?.overran(.idleTime)
            peer.log("drained \(stream.remoteAddress): \(why)")
            drain()
        case .end(let limit, let why):
            endGate(limit, why)
        }
        bookGate()
    }

    // MARK: the end

    /// Nothing more is read and nothing more asked.
    func endGate(_ limit: Limit, _ why: String) {
        guard gate.verdict == nil else { return }
        gate.verdict = why
        gate.isSilent = limit == .keepaliveTimeout
        _ = phase.closed()
        gate.settings.traffic?.overran(limit)
        peer.log("closed \(stream.remoteAddress): \(why)")
        // Who does not answer does not close either.
        if limit == .keepaliveTimeout { stream.abort() } else { stream.close() }
    }

    /// The stream has ended.
    func closeGate(_ end: ChannelEnd) {
        peer.runner.rounds.leave(self)
        guard case .overrun(let limit, let why) = end else { return }
        gate.isSilent = limit == .keepaliveTimeout || limit == .patience
        gate.settings.traffic?.overran(limit)
        peer.log("closed \(stream.remoteAddress): \(why)")
    }
}

/// The parameters of `rpc.authenticate`.
private struct ShownToken: Decodable {
    var token: String
}

extension ErrorObject {
    /// One text for every method, so that it does not tell which there are.
    static let unauthenticated = ErrorObject(
        RPCError(
            .unauthenticated, "log in first: rpc.authenticate {\"token\": …} with a token that this server knows",
            outcome: .notExecuted))
}
