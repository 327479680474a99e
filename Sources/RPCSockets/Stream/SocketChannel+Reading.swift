// How bytes arrive and how the channel ends. Everything here runs on the loop.

import RPCWire

extension SocketChannel: Selectable {
    /// How many full reads one channel gets in a turn before its neighbours have theirs.
    private static let readsPerTurn = 4

    func begin(_ receiver: any ByteReceiver) {
        state.receiver = receiver
        if state.outcome != nil { return report() }
        do throws(SystemError) {
            state.registration = try eventLoop.register(self, socket.descriptor, state.interest)
        } catch {
            end(error.channelEnd)
        }
    }

    func ready(_ readiness: Readiness) {
        if readiness.contains(.writing) { roomAppeared() }
        // A broken connection is reported for ever, also while reading is paused: read on to its end.
        if readiness.isHungUp || readiness.contains(.reading) {
            read(atMost: Self.readsPerTurn, isHungUp: readiness.isHungUp)
        }
    }

    func loopWillEnd() { end(.local) }

    private func read(atMost limit: Int, isHungUp: Bool) {
        let buffer = eventLoop.state.readBuffer
        for _ in 0..<limit {
            guard mayRead(isHungUp: isHungUp) else { return }
            let (transfer, isFull) = buffer.read(
                generously: state.readsMuch, receive: socket.receive, deliver: deliver)
            switch transfer {
            case .bytes(0): return readEnd()
            case .bytes:
                state.readsMuch = isFull
                if !isFull { return }
            case .wouldBlock: return
            case .failed(let error): return end(error.channelEnd)
            }
        }
    }

    /// Whether there is a receiver to read for now. If not, reading pauses, or the channel ends.
    private func mayRead(isHungUp: Bool) -> Bool {
        let (phase, isPeerSlow) = outgoing.withLock { outgoing in
            // Only while the loop waits for room: another writer does not tell when reading can go on.
            (outgoing.phase, outgoing.writer == .blocked && outgoing.waiting > limits.pauseReading)
        }
        switch phase {
        case .open: break
        case .finishing: state.discards = true
        case .ended: return false
        }
        if state.hasReadEnd {
            // Both directions are over, and only room for output was still waited for.
            if isHungUp { end(.remote) }
            return false
        }
        if isHungUp { return true }
        let receiver = state.receiver
        if state.discards || receiver?.wantsMore != false {
            guard pausesReading, isPeerSlow else { return true }
            receiver?.pausedReading()
        }
        setInterest(state.interest.subtracting(.reading))
        return false
    }

    package func resumeReading() {
        if !state.hasReadEnd, state.registration != nil { setInterest(state.interest.union(.reading)) }
    }

    /// Reads what is there, for the last time.
    func drainReads() { read(atMost: 1_024, isHungUp: true) }

    private func deliver(_ bytes: Bytes) {
        // Bound first: a call through `state` would keep the access to it open, in memory of its own.
        guard !state.discards, let receiver = state.receiver else { return }
        receiver.received(bytes)
    }

    /// The peer says no more. It may still read what is queued for it.
    private func readEnd() {
        state.hasReadEnd = true
        setInterest(state.interest.subtracting(.reading))
        if !state.discards, let receiver = state.receiver, receiver.peerFinished() { return }
        let isIdle = outgoing.withLock { outgoing in
            _ = outgoing.finish(.remote)
            return outgoing.isIdle
        }
        if isIdle || state.lingering != nil { end(.remote) } else { flushLater() }
    }

    /// Says that all has been sent, and waits for the peer's end. If the socket were closed now, the kernel could answer the peer's
    /// next bytes with a reset. A reset takes the last reply away from a peer that has not read it yet.
    func sendEnd() {
        guard state.outcome == nil, state.lingering == nil else { return }
        state.discards = true
        if state.hasReadEnd || state.registration == nil { return end(.local) }
        socket.shutdownSending()
        setInterest(.reading)
        state.lingering = eventLoop.schedule(at: eventLoop.now.advanced(by: limits.linger)) { [weak self] in
            self?.end(.local)
        }
    }

    func setInterest(_ wanted: Readiness) {
        guard wanted != state.interest, state.outcome == nil else { return }
        state.interest = wanted
        guard let registration = state.registration else { return }
        do throws(SystemError) {
            try eventLoop.change(registration, wanted)
        } catch {
            end(error.channelEnd)
        }
    }

    /// The last step: lets the descriptor go as soon as no writer uses it, and tells the receiver.
    func release() {
        guard state.outcome == nil else { return }
        let ending: (ChannelEnd, UInt64)? = outgoing.withLock { outgoing in
            guard outgoing.isUnused, case .ended(let end) = outgoing.phase else { return nil }
            outgoing.empty()
            return (end, outgoing.sent)
        }
        // If a writer still uses the descriptor, it comes back here.
        guard let ending else { return }
        state.outcome = ending
        flight.letGo()
        state.patience?.cancel()
        state.lingering?.cancel()
        (state.patience, state.lingering) = (nil, nil)
        if let registration = state.registration { eventLoop.deregister(registration) }
        state.registration = nil
        socket.close()
        report()
    }

    private func report() {
        guard let outcome = state.outcome, let receiver = state.receiver else { return }
        state.receiver = nil
        receiver.ended(outcome.end, sentUpTo: outcome.sent)
    }
}
