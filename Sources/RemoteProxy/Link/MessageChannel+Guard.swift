// The driver of `Gate`: tells it what the channel hears and asks it when time has passed, and does what it decides: lets in,
// asks, or ends. On the loop.

import JSONCodec
import RPCSockets
import RPCWire

extension MessageChannel {
    // MARK: coming in

    func openGate() {
        if let identity = gate.login.identity { link.identity = identity }
        if gate.login.isLocked { frames.limits.maximumFrameSize = gate.settings.limits.loginInput }
        bookGate()
    }

    /// All that a peer may do before it has shown its identity: log in.
    func acceptLocked(_ message: Message) {
        switch message {
        case .request(let request):
            switch request.method.description {
            case SystemMethod.hello, SystemMethod.authenticate: link.accept(system: request, in: nil, over: self)
            // Strangers write nothing into the log either.
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

    /// Judges what a hello or a login shows. False when its sender is not let in; then it has been answered.
    func lets(in request: Request, showing token: String?) -> Bool {
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

    /// A peer that guesses has to wait for the answer, and to connect again for the next guess.
    private func turnAway(_ request: Request) {
        close()
        gate.settings.traffic?.count { $0.failedLogins += 1 }
        link.requester.log("refused \(stream.remoteAddress): it has shown a token that nobody has")
        stream.loop.schedule(at: stream.loop.now.advanced(by: gate.settings.limits.loginDelay)) { [self] in
            link.answer(request.id, with: .unauthenticated, in: nil)
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
            return link.answer(request.id, with: why, in: batch)
        }
        guard lets(in: request, showing: shown.token) else { return }
        link.answer(request.id, in: batch) { output in
            output.append(#"{"name":"#)
            if let name = gate.login.identity?.name { output.append(quoted: name) } else { output.append("null") }
            output.append("}")
        }
    }

    /// Before an answer is sent: a peer that has not logged in gets little.
    func mayAnswer(_ count: Int) -> Bool {
        guard gate.login.isLocked, !gate.login.answers(count) else { return true }
        endGate(.loginOutput)
        return false
    }

    /// The other end has answered this end's hello: it does not let this end in.
    func turnBack() {
        guard !isClosed, link.half.life.greeted() else { return }
        let why = "\(stream.remoteAddress) lets nobody in without a token that it knows: set \(Self.tokenOption)"
        close(because: why)
        // The next attempt will be answered alike, and callers can do something about it.
        link.requester.feed { $0.half.turnedAway(because: why) }
        stream.abort()
    }

    private static let tokenOption = "RPCClient.Configuration.token"

    // MARK: what is heard

    func heard(_ count: Int) {
        if gate.keepalive.heard(at: stream.loop.now) { bookGate() }
        gate.arrival.received(count)
        if gate.login.isLocked { gate.lockedInput += count }
    }

    /// All that has come has been looked at.
    func looked() {
        if gate.login.isLocked, !gate.login.received(gate.lockedInput) { return endGate(.loginInput) }
        gate.lockedInput = 0
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

    /// One of our own kind asks whether this end is there. That is no call: the answer has no number and is not kept.
    func answerPing() {
        guard gate.admitsPing(at: stream.loop.now) else { return flooded(.maximumPings) }
        // A peer that asks in time, each time, need not be looked at.
        bookGate()
        append(MessageWriter.pong)
    }

    /// Any other end asks.
    func acceptPing(_ request: Request, in batch: BatchReply?) {
        guard gate.admitsPing(at: stream.loop.now) else { return flooded(.maximumPings) }
        link.answer(request.id, in: batch) { $0.append("null") }
    }

    private func append(_ message: StaticString) {
        append(UnsafeRawBufferPointer(start: message.utf8Start, count: message.utf8CodeUnitCount))
        stream.flush()
    }

    /// A request has begun.
    func noteAsked() { gate.isUsed(at: gate.keepalive.heard) }

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

    /// Sees to it that the gate is looked at when it is due. Things mostly happen before, and then the due moment has moved on
    /// when the time comes: the timer is not set anew for each.
    private func bookGate() {
        let due = gate.due
        guard !isClosed, due < gateTimer?.due ?? .distantFuture else { return }
        gateTimer?.timer.cancel()
        // Strong, and cancelled with the channel: a weak reference would make every other one to it slow.
        gateTimer = (due, stream.loop.schedule(at: due) { [self] in gateDue() })
    }

    /// The time that was booked has come.
    private func gateDue() {
        gateTimer = nil
        guard !isClosed else { return }
        let now = stream.loop.now
        if !input.isReading || !stream.isReading {
            gate.keepalive.heard(at: now)
            gate.arrival.excuse(at: now)
        }
        if link.half.calls.count > 0 || link.requester.pendingCalls > 0 { gate.isUsed(at: now) }
        switch gate.check(at: now) {
        case .wait: break
        case .ask:
            append(MessageWriter.ping)
        case .end(.idleTime):
            gate.settings.traffic?.overran(.idleTime)
            link.requester.log("drained \(stream.remoteAddress): \(gate.explanation(of: .idleTime))")
            link.drain(over: self)
        case .end(let limit):
            endGate(limit)
        }
        bookGate()
    }

    // MARK: the end

    /// Nothing more is read and nothing more asked.
    func endGate(_ limit: Limit) {
        let why = gate.explanation(of: limit)
        guard close(because: why) else { return }
        gate.isSilent = limit == .keepaliveTimeout
        gate.settings.traffic?.overran(limit)
        link.requester.log("closed \(stream.remoteAddress): \(why)")
        // A peer that does not answer does not close either.
        if limit == .keepaliveTimeout { stream.abort() } else { stream.close() }
    }

    /// The stream has ended.
    func closeGate(_ end: ChannelEnd) {
        gateTimer?.timer.cancel()
        gateTimer = nil
        guard case .overrun(let limit, let why) = end else { return }
        gate.isSilent = limit == .keepaliveTimeout || limit == .patience
        gate.settings.traffic?.overran(limit)
        link.requester.log("closed \(stream.remoteAddress): \(why)")
    }
}

/// The parameters of `rpc.authenticate`.
private struct ShownToken: Decodable {
    var token: String
}
