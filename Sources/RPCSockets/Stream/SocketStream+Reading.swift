// How bytes arrive and how the stream ends. Everything here runs on the loop.

package import RPCWire
import Synchronization

extension SocketStream: Selectable {
    /// How many full reads one stream gets in a turn before its neighbours have theirs.
    private static let readsPerTurn = 4
    /// How often a loop that looks out for this stream alone looks before it turns to anything else: what comes is seen the sooner
    /// the less is done between two looks.
    private static let looksInARow = 4

    func begin(_ receiver: any ByteStreamReceiver) {
        self.receiver = receiver
        if outcome != nil { return report() }
        do throws(SystemError) {
            registration = try eventLoop.register(self, socket.descriptor, interest)
        } catch {
            end(StreamEnd(error))
        }
    }

    func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { roomAppeared() }
        // A broken connection is reported for ever, also while reading is paused: read on to its end.
        if readiness.contains(.hungUp) || readiness.contains(.readable) {
            read(atMost: SocketStream.readsPerTurn, isHungUp: readiness.contains(.hungUp))
        }
    }

    func take() -> Bool {
        interest.contains(.reading) && read(atMost: SocketStream.readsPerTurn, looks: SocketStream.looksInARow)
    }

    func loopWillEnd() { end(.local) }

    /// Answers whether something has come, be it the end.
    @discardableResult
    private func read(atMost limit: Int, looks: Int = 1, isHungUp: Bool = false) -> Bool {
        for turn in 0..<limit {
            let outlook = outlook
            guard outlook.isOpen else { return turn > 0 }
            if hasReadEnd {
                // Both directions are over and somebody still waits for room.
                if isHungUp { end(.remote) }
                return turn > 0
            }
            if !isHungUp, !discards, receiver?.wantsMore == false {
                setInterest(interest.subtracting(.reading))
                return turn > 0
            }
            if pausesReading, !isHungUp, outlook.isPeerSlow {
                receiver?.pausedReading()
                setInterest(interest.subtracting(.reading))
                return turn > 0
            }
            let outcome = eventLoop.readBuffer.read(
                from: socket, generously: readsMuch, looks: looks, deliver: deliver)
            switch outcome {
            case .delivered(let filled):
                readsMuch = filled
                if !filled { return true }
            case .wouldBlock:
                return turn > 0
            case .endOfStream:
                readEnd()
                return true
            case .failed(let error):
                end(StreamEnd(error))
                return true
            }
        }
        return true
    }

    package func resumeReading() {
        if !hasReadEnd, registration != nil { setInterest(interest.union(.reading)) }
    }

    /// Reads what is there, for the last time.
    func drainReads() { read(atMost: 1_024, isHungUp: true) }

    private func deliver(_ bytes: Bytes) {
        if !discards { receiver?.received(bytes) }
    }

    /// Whether there is anybody to read for, and whether the peer takes too little of what is said to it.
    private var outlook: (isOpen: Bool, isPeerSlow: Bool) {
        guard outcome == nil else { return (false, false) }
        return outgoing.withLock { outgoing in
            if case .finishing = outgoing.phase { discards = true }
            if case .ended = outgoing.phase { return (false, false) }
            // Only while the loop waits for room: whoever else is writing does not tell when reading can go on.
            return (true, outgoing.writer == .blocked && outgoing.waiting > limits.pauseReading)
        }
    }

    /// The peer says no more; what is queued for it may still be read by it.
    private func readEnd() {
        hasReadEnd = true
        setInterest(interest.subtracting(.reading))
        if !discards, let receiver, receiver.peerFinished() { return }
        let isIdle = outgoing.withLock { outgoing in
            _ = outgoing.finish(.remote)
            return outgoing.waiting == 0 && outgoing.writer == .nobody
        }
        if isIdle || hasSentEnd { end(.remote) } else { flushLater() }
    }

    /// All has been sent. Closing now could make the kernel answer what the peer still sends with a reset, and a reset
    /// takes the last reply away from a peer that has not read it yet: say that it is the end, and wait for theirs.
    func sendEnd() {
        guard outcome == nil, !hasSentEnd else { return }
        hasSentEnd = true
        discards = true
        if hasReadEnd || registration == nil { return end(.local) }
        socket.shutdownSending()
        setInterest(.reading)
        lingering = eventLoop.schedule(at: eventLoop.now.advanced(by: limits.linger)) { [weak self] in
            self?.end(.local)
        }
    }

    func setInterest(_ wanted: Interest) {
        guard wanted != interest, outcome == nil else { return }
        interest = wanted
        guard let registration else { return }
        do throws(SystemError) {
            try eventLoop.change(registration, wanted)
        } catch {
            end(StreamEnd(error))
        }
    }

    /// The last step: lets the descriptor go as soon as no writer uses it, and tells the receiver.
    func close() {
        guard outcome == nil else { return }
        let ending: (StreamEnd, UInt64)? = outgoing.withLock { outgoing in
            guard outgoing.isUnused, case .ended(let end) = outgoing.phase else { return nil }
            outgoing.empty()
            return (end, outgoing.sent)
        }
        // If a writer still uses the descriptor, it comes back here.
        guard let ending else { return }
        outcome = ending
        flight.letGo()
        patience?.cancel()
        lingering?.cancel()
        (patience, lingering) = (nil, nil)
        if let registration { eventLoop.deregister(registration) }
        registration = nil
        socket.close()
        report()
    }

    private func report() {
        guard let outcome, let receiver else { return }
        self.receiver = nil
        receiver.ended(outcome.end, sent: outcome.sent)
    }
}
