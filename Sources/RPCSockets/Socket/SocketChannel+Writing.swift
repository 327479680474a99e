// How a socket channel sends its queued bytes. Any thread may be the writer. If the socket is full, the loop continues later.

import RPCWire
import Synchronization

extension SocketChannel: TurnEndWork {
    /// How many times a writer other than the loop sends what other threads have queued meanwhile.
    private static let turnsForOthers = 16

    /// Leaves the queued bytes to the end of the turn, or to a write before it. Called on the loop.
    func writeLater(_ hint: FlushHint) {
        if state.batch.begin() { eventLoop.atEndOfTurn(self, hint) }
        if state.batch.add() { writeQueued() }
    }

    func turnEnds() {
        state.batch.end()
        writeQueued()
    }

    package func releaseRoom() {
        outgoing.withLock { outgoing in
            guard outgoing.isIdle else { return }
            outgoing.empty()
            sending.letGo()
        }
    }

    /// Sends the queued bytes, unless another writer is at work.
    func writeQueued() {
        if let first = outgoing.withLock({ $0.beginWriting() ? $0.next(&sending) : nil }) { write(first) }
    }

    /// Sends until nothing is queued or the socket is full. Called by the thread that has become the writer, with its first
    /// step; it is not the writer afterwards. The caller may be in the middle of other work, so no receiver is called here: the
    /// loop does that later.
    private func write(_ first: OutputQueue.Next) {
        let isLoop = eventLoop.isCurrent
        var next = first
        var turns = 0
        while next == .send {
            turns += 1
            let count = sending.count
            switch socket.send(sending.bytes, sending.sharedBytes) {
            case .bytes(count) where isLoop || turns < Self.turnsForOthers:
                sending.removeAll()
                next = outgoing.withLock { outgoing in
                    didSend(count, of: &outgoing)
                    return outgoing.next(&sending)
                }
            case .bytes(let part):
                // After a partial write the next would block. A writer that has had its turns leaves the rest to the loop.
                sending.removeFirst(part)
                return block(sent: part)
            case .wouldBlock:
                return block(sent: 0)
            case .failed(let error):
                outgoing.withLock { _ = $0.block() }
                return eventLoop.submit { [self] in writingFailed(error) }
            }
        }
        switch next {
        case .send, .rest: break
        case .finish: onLoop { $0.sendEnd() }
        case .close: eventLoop.submit { [self] in release() }
        }
    }

    /// Gives the writer's place to the loop, which continues when the socket takes more.
    private func block(sent: Int) {
        let goesOn = outgoing.withLock { outgoing in
            didSend(sent, of: &outgoing)
            return outgoing.block()
        }
        if goesOn { onLoop { $0.awaitRoom() } } else { eventLoop.submit { [self] in release() } }
    }

    /// Counts sent bytes, under the lock. Has the receiver told when the channel is not crowded any more.
    private func didSend(_ count: Int, of outgoing: inout OutputQueue) {
        outgoing.didSend(count)
        guard isCrowded, outgoing.waiting <= limits.pauseReading / 2 else { return }
        crowded.store(false, ordering: .relaxed)
        // In a later turn of the loop: the thread that sends may be in the middle of the receiver's code.
        eventLoop.submit { [self] in tellOutputChanged() }
    }

    private func onLoop(_ step: @escaping @Sendable (SocketChannel) -> Void) {
        if eventLoop.isCurrent { step(self) } else { eventLoop.submit { [self] in step(self) } }
    }

    // MARK: on the loop

    private func tellOutputChanged() {
        // The receiver is copied first, as for `deliver`.
        let receiver = state.receiver
        receiver?.outputChanged()
    }

    private func awaitRoom() {
        guard state.outcome == nil else { return }
        startPatience()
        setInterest(state.interest.union(.writing))
        eventLoop.submit { [self] in tellOutputChanged() }
    }

    func roomAppeared() {
        guard let first = outgoing.withLock({ $0.resumeWriting() ? $0.next(&sending) : nil }) else {
            return setInterest(state.interest.subtracting(.writing))
        }
        write(first)
        let (isBlocked, waiting) = outgoing.withLock { ($0.writer == .blocked, $0.waiting) }
        if !isBlocked {
            state.patience?.cancel()
            state.patience = nil
            setInterest(state.interest.subtracting(.writing))
        }
        if !state.interest.contains(.reading), !state.hasReadEnd, waiting <= limits.pauseReading / 2 {
            setInterest(state.interest.union(.reading))
        }
        tellOutputChanged()
    }

    /// Ends the channel if the peer takes no bytes for this time, because then it is as good as gone.
    private func startPatience() {
        guard state.patience == nil else { return }
        let sent = outgoing.withLock { $0.sent }
        state.patience = eventLoop.schedule(at: eventLoop.now.advanced(by: limits.patience)) { [weak self] in
            self?.patienceIsOver(sentBefore: sent)
        }
    }

    private func patienceIsOver(sentBefore: UInt64) {
        state.patience = nil
        let (sent, waiting) = outgoing.withLock { ($0.sent, $0.waiting) }
        guard waiting > 0 else { return }
        if sent > sentBefore { return startPatience() }
        end(
            .overrun(
                .patience,
                "the peer has taken none of \(waiting) waiting bytes for \(limits.patience) (patience)"))
    }

    /// The peer is gone. What it sent before can still be read, so the receiver gets that first.
    private func writingFailed(_ error: SystemError) {
        drainReads()
        end(error.channelEnd)
        // If the channel was ended while this writer was at work, it must be released here.
        release()
    }
}
