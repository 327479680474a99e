// The driver of `Gate`. Tells the gate what the channel hears and when time has passed, and does what the gate decides: lets a
// peer in, sends a ping, or ends the connection. On the loop.

import RPCSockets
import RPCWire

extension FramedChannel {
    // MARK: who the peer is

    func openGate() {
        if !gate.hasMetPeer { prove() }
        login = gate.login
        bookGate()
    }

    /// Called when the first bytes have come: a handshake may have proved who sends them.
    func meetPeer() {
        gate.hasMetPeer = true
        if gate.login.identity == nil { prove() }
    }

    private func prove() {
        guard !isDialled, let proof = carrier.peer else { return }
        login.prove(proof, link.settings.tokens.withLock { $0 })
        link.entry = login.entry
        link.identity = login.identity
    }

    package var login: Login {
        get { gate.login }
        set {
            gate.login = newValue
            frames.limits = gate.settings.limits.frames
            if newValue.isLocked { frames.limits.maximumFrameSize = gate.settings.limits.loginInput }
        }
    }

    // MARK: bytes and pings of the peer

    func countReceived(_ count: Int) {
        if gate.keepalive.heardPeer(at: carrier.loop.now) {
            bookGate()
            link.pingIsAnswered(over: self)
            releaseRoom()
        }
        gate.frameTimeout.received(count)
        if gate.login.isLocked { gate.lockedInput += count }
    }

    /// Called when all bytes that have come have been looked at.
    func hasReadAll() {
        if gate.login.isLocked, !gate.login.received(gate.lockedInput, of: gate.settings.limits.loginInput) {
            return endGate(.loginInput)
        }
        gate.lockedInput = 0
        let isInside = frames.isInsideFrame
        if isInside { tellBytes() } else { tellWholeMessage() }
        guard isInside || !gate.frameTimeout.isAtRest else { return }
        gate.frameTimeout.looked(
            frames: frames.count, isInside: isInside, isTold: frames.isTold, at: carrier.loop.now)
        if isInside { bookGate() }
    }

    package func admits(_ act: PeerAct) -> Bool {
        switch act {
        case .asked: gate.touch(at: gate.keepalive.heard)
        case .isAnswered(let bytes, let hasRun):
            if hasRun { gate.requestEnded() }
            // A peer without a login gets few bytes; beyond them its connection ends.
            guard gate.login.isLocked, !gate.login.answers(bytes, of: gate.settings.limits.loginOutput) else {
                return true
            }
            endGate(.loginOutput)
            return false
        case .greeted(let interval):
            gate.keepalive.begin(at: carrier.loop.now, wanted: interval)
            bookGate()
        case .pinged:
            guard gate.admitsPing(at: carrier.loop.now) else { return flooded(.maximumPings) }
            // A peer that pings in time, each time, is not pinged by this end.
            bookGate()
            releaseRoom()
        case .cancelledNothing:
            guard gate.admitsUnknownCancel(at: carrier.loop.now) else { return flooded(.maximumUnknownCancels) }
        }
        return true
    }

    /// Gives memory back that is not in use. Usually there was silence before a ping, so it is not needed again soon. A ping amid
    /// traffic does no harm.
    private func releaseRoom() {
        carrier.releaseRoom()
        link.releaseRoom()
    }

    /// Returns false.
    private func flooded(_ limit: Limit) -> Bool {
        guard !isOver else { return false }
        let why = gate.settings.limits.overrun(of: limit)
        link.answer(.null, with: RPCError(.busy, why, outcome: .notExecuted), in: nil)
        endGate(limit)
        return false
    }

    // MARK: time

    /// Sets the timer for the gate's next check. Incoming bytes usually move the due moment on, so the timer is not set anew
    /// for each of them: a timer that fires too early books the next one.
    private func bookGate() {
        let due = gate.due
        guard !isOver, due < gateTimer?.due ?? .distantFuture else { return }
        gateTimer?.timer.cancel()
        // A strong reference, cancelled with the channel: weak references to the channel would make all others slow.
        gateTimer = (due, carrier.loop.schedule(at: due) { [self] in gateDue() })
    }

    /// Called when the booked time has come.
    private func gateDue() {
        gateTimer = nil
        guard !isOver else { return }
        let now = carrier.loop.now
        if !reading.isNow || !carrier.isReading {
            if gate.keepalive.heardPeer(at: now) { link.pingIsAnswered(over: self) }
            gate.frameTimeout.excuse(at: now)
        }
        if link.isInUse { gate.touch(at: now) }
        switch gate.check(at: now) {
        case .wait: break
        case .ask: ping()
        case .end(.idleTime):
            gate.settings.traffic?.overran(.idleTime)
            link.log(
                LogRecord(.notice, "drained \(carrier.remoteAddress): \(gate.settings.limits.overrun(of: .idleTime))"))
            link.drain()
        case .end(let limit):
            endGate(limit)
        }
        bookGate()
    }

    private func ping() {
        append(.copied(MessageWriter.ping))
        carrier.flush()
    }

    package func probe() -> Bool {
        if isOver { return true }
        guard link.peerRunsLibrary else { return false }
        switch gate.keepalive.probe(at: carrier.loop.now) {
        case .heard: return false
        case .ask: ping()
        case .asked: break
        }
        bookGate()
        return true
    }

    // MARK: the end

    /// Ends the connection because of a limit: nothing more is read from it.
    func endGate(_ limit: Limit) {
        let why = gate.settings.limits.overrun(of: limit)
        link.outputChanged(of: self)
        guard stopReading(because: why) else { return }
        gate.isSilent = limit == .keepaliveTimeout
        gate.settings.traffic?.overran(limit)
        link.log(LogRecord(.warning, "closed \(carrier.remoteAddress): \(why)"))
        // A peer that does not answer would not close its end either.
        if limit == .keepaliveTimeout { carrier.abort() } else { carrier.close() }
    }

    /// Called when the connection has ended.
    func closeGate(_ end: ChannelEnd) {
        gateTimer?.timer.cancel()
        gateTimer = nil
        if case .broken(let why) = end {
            link.log(LogRecord(.warning, "closed \(carrier.remoteAddress): \(why)"))
        }
        guard case .overrun(let limit, let why) = end else { return }
        gate.isSilent = limit == .keepaliveTimeout || limit == .patience
        gate.settings.traffic?.overran(limit)
        link.log(LogRecord(.warning, "closed \(carrier.remoteAddress): \(why)"))
    }
}
