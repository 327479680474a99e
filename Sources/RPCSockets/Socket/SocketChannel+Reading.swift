// How a socket channel receives bytes, and how it ends. Everything here runs on the loop.

import RPCWire

extension SocketChannel: Selectable {
    /// How many full reads a channel gets in one turn, so that the other channels get theirs.
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
        // A broken connection is reported again and again, even while reading is paused. So it is read to its end.
        if readiness.isHungUp || readiness.contains(.reading) {
            read(atMost: Self.readsPerTurn, isHungUp: readiness.isHungUp)
        }
    }

    func loopWillEnd() { end(.local) }

    func readOnce() -> Bool { state.interest.contains(.reading) && read(atMost: 1, isHungUp: false) }

    /// Returns whether the last read has found something: bytes, the peer's end, or an error.
    @discardableResult
    private func read(atMost limit: Int, isHungUp: Bool) -> Bool {
        let buffer = eventLoop.state.readBuffer
        for _ in 0..<limit {
            guard mayRead(isHungUp: isHungUp) else { return false }
            let (transfer, isFull) = buffer.read(
                generously: state.readsMuch, receive: socket.receive, deliver: deliver)
            switch transfer {
            case .bytes(0):
                readEnd()
                return true
            case .bytes:
                state.readsMuch = isFull
                if !isFull {
                    eventLoop.state.lastRead = self
                    return true
                }
            case .wouldBlock: return false
            case .failed(let error):
                end(error.channelEnd)
                return true
            }
        }
        return true
    }

    /// Whether to read now. If not, reading has paused, or the channel has ended.
    private func mayRead(isHungUp: Bool) -> Bool {
        let (phase, isPeerSlow) = outgoing.withLock { outgoing in
            // Counts only if the socket is full: then the loop knows when reading can go on. A writer at work does not tell.
            (outgoing.phase, outgoing.writer == .blocked && outgoing.waiting > limits.pauseReading)
        }
        switch phase {
        case .open: break
        case .finishing: state.discards = true
        case .ended: return false
        }
        if state.hasReadEnd {
            // Both directions are over, and the channel only waited for room for output.
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

    /// Reads the bytes that have arrived, for the last time.
    func drainReads() { read(atMost: 1_024, isHungUp: true) }

    private func deliver(_ bytes: Bytes) {
        // The receiver is copied first: a call through `state` would keep the access to it open, in memory of its own.
        guard !state.discards, let receiver = state.receiver else { return }
        receiver.received(bytes)
    }

    /// The peer sends no more. It may still read what is queued for it.
    private func readEnd() {
        state.hasReadEnd = true
        setInterest(state.interest.subtracting(.reading))
        if !state.discards, let receiver = state.receiver, receiver.peerFinished() { return }
        let isIdle = outgoing.withLock { outgoing in
            _ = outgoing.finish(.remote)
            return outgoing.isIdle
        }
        if isIdle || state.lingering != nil { end(.remote) } else { writeLater(.more) }
    }

    /// Tells the peer that all has been sent, and waits until the peer ends too. Otherwise the kernel could answer the peer's
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

    /// The last step: closes the descriptor if no writer uses it, and tells the receiver. Else the writer calls it again.
    func release() {
        guard state.outcome == nil else { return }
        let ending: (ChannelEnd, UInt64)? = outgoing.withLock { outgoing in
            guard outgoing.isUnused, case .ended(let end) = outgoing.phase else { return nil }
            outgoing.empty()
            return (end, outgoing.sent)
        }
        // A writer still uses the descriptor, and calls this again.
        guard let ending else { return }
        state.outcome = ending
        sending.letGo()
        state.patience?.cancel()
        state.lingering?.cancel()
        (state.patience, state.lingering) = (nil, nil)
        deregister()
        socket.close()
        report()
    }

    func deregister() {
        if let registration = state.registration { eventLoop.deregister(registration) }
        state.registration = nil
        if eventLoop.state.lastRead === self { eventLoop.state.lastRead = nil }
    }

    private func report() {
        guard let outcome = state.outcome, let receiver = state.receiver else { return }
        state.receiver = nil
        receiver.ended(outcome.end, sentUpTo: outcome.sent)
    }
}
