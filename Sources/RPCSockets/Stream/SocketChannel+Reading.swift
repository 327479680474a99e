// How bytes arrive and how the stream ends. Everything here runs on the loop.

import RPCWire

extension SocketChannel: Selectable {
    /// How many full reads one stream gets in a turn before its neighbours have theirs.
    private static let readsPerTurn = 4
    /// How often a spinning loop that looks at this stream alone looks before it turns to anything else. The less it does between
    /// two looks, the sooner it finds what has come.
    private static let looksInARow = 4

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
        if readiness.contains(.writable) { roomAppeared() }
        // A broken connection is reported for ever, also while reading is paused: read on to its end.
        if readiness.contains(.hungUp) || readiness.contains(.readable) {
            read(atMost: Self.readsPerTurn, isHungUp: readiness.contains(.hungUp))
        }
    }

    func take() -> Bool {
        state.interest.contains(.reading) && read(atMost: Self.readsPerTurn, looks: Self.looksInARow)
    }

    func loopWillEnd() { end(.local) }

    /// Answers whether something has come, be it the end.
    @discardableResult
    private func read(atMost limit: Int, looks: Int = 1, isHungUp: Bool = false) -> Bool {
        let buffer = eventLoop.state.readBuffer
        for turn in 0..<limit {
            guard mayRead(isHungUp: isHungUp) else { return turn > 0 }
            let outcome = buffer.read(
                generously: state.readsMuch, receive: { socket.receive($0, looks: looks) }, deliver: deliver)
            switch outcome {
            case .delivered(let filled):
                state.readsMuch = filled
                if !filled { return true }
            case .wouldBlock:
                return turn > 0
            case .endOfStream:
                readEnd()
                return true
            case .failed(let error):
                end(error.channelEnd)
                return true
            }
        }
        return true
    }

    /// Whether there is a receiver to read for now. If not, reading pauses, or the stream ends.
    private func mayRead(isHungUp: Bool) -> Bool {
        let outlook = outlook
        guard outlook.isOpen else { return false }
        if state.hasReadEnd {
            // Both directions are over, and only room for output was still waited for.
            if isHungUp { end(.remote) }
            return false
        }
        if isHungUp { return true }
        if !state.discards, state.receiver?.wantsMore == false {
            setInterest(state.interest.subtracting(.reading))
            return false
        }
        if pausesReading, outlook.isPeerSlow {
            state.receiver?.pausedReading()
            setInterest(state.interest.subtracting(.reading))
            return false
        }
        return true
    }

    package func resumeReading() {
        if !state.hasReadEnd, state.registration != nil { setInterest(state.interest.union(.reading)) }
    }

    /// Reads what is there, for the last time.
    func drainReads() { read(atMost: 1_024, isHungUp: true) }

    private func deliver(_ bytes: Bytes) {
        guard !state.discards, let receiver = state.receiver else { return }
        receiver.received(bytes)
    }

    /// Whether the stream is open, and whether the peer takes too little of what is said to it.
    private var outlook: (isOpen: Bool, isPeerSlow: Bool) {
        guard state.outcome == nil else { return (false, false) }
        let (phase, isPeerSlow) = outgoing.withLock { outgoing in
            // Only while the loop waits for room: another writer does not tell when reading can go on.
            (outgoing.phase, outgoing.writer == .blocked && outgoing.waiting > limits.pauseReading)
        }
        if case .finishing = phase { state.discards = true }
        if case .ended = phase { return (false, false) }
        return (true, isPeerSlow)
    }

    /// The peer says no more. It may still read what is queued for it.
    private func readEnd() {
        state.hasReadEnd = true
        setInterest(state.interest.subtracting(.reading))
        if !state.discards, let receiver = state.receiver, receiver.peerFinished() { return }
        let isIdle = outgoing.withLock { outgoing in
            _ = outgoing.finish(.remote)
            return outgoing.waiting == 0 && outgoing.writer == .free
        }
        if isIdle || state.hasSentEnd { end(.remote) } else { flushLater() }
    }

    /// Says that all has been sent, and waits for the peer's end. Closing now could make the kernel answer what the peer still
    /// sends with a reset, and a reset takes the last reply away from a peer that has not read it yet.
    func sendEnd() {
        guard state.outcome == nil, !state.hasSentEnd else { return }
        state.hasSentEnd = true
        state.discards = true
        if state.hasReadEnd || state.registration == nil { return end(.local) }
        socket.shutdownSending()
        setInterest(.reading)
        state.lingering = eventLoop.schedule(at: eventLoop.now.advanced(by: limits.linger)) { [weak self] in
            self?.end(.local)
        }
    }

    func setInterest(_ wanted: Interest) {
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
