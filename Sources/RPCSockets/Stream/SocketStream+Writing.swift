// How queued output leaves. The writer may be any thread; when the socket is full, the loop takes over.

package import RPCWire
import Synchronization

extension SocketStream {
    /// How often a writer other than the loop goes on with what others have queued meanwhile.
    private static let turnsForOthers = 16

    /// How many messages of a turn leave in its first write where nobody has said how many answers are expected, as where the
    /// messages are answers themselves.
    static let usualFirstWrite = 32
    /// Fewer are not worth a write of their own: while several streams are busy both ends have enough else to do.
    private static let leastFirstWrite = 16
    /// While one is alone there is nothing else, and even few keep the other end busy.
    private static let leastFirstWriteAlone = 8

    /// A write of half of what is under way leaves each end as much to do as the other, and no more writes are needed. Where half
    /// is very little it is not worth a write.
    package func expectAnswers(to messages: Int) {
        let isAlone = registration.map { eventLoop.lookout.isQuiet(besides: $0.tag) } ?? false
        messagesInFirstWrite = max(messages / 2, isAlone ? Self.leastFirstWriteAlone : Self.leastFirstWrite)
    }

    /// On the loop: what is queued in this turn leaves in few writes, each of twice as many messages as the one before, and the
    /// last at its end. With a single write the other end would have nothing to do until this one has nothing left to do; with
    /// many, both would do little else.
    func flushLater() {
        if !isUnflushed {
            isUnflushed = true
            (unflushedMessages, messagesInNextWrite) = (0, messagesInFirstWrite)
            eventLoop.unflushed.append(self)
        }
        unflushedMessages += 1
        guard unflushedMessages >= messagesInNextWrite else { return }
        unflushedMessages = 0
        messagesInNextWrite *= 2
        writeQueued()
    }

    func flushAtEndOfTurn() {
        isUnflushed = false
        writeQueued()
    }

    /// Sends what is queued unless somebody already does.
    func writeQueued() {
        if let first = outgoing.withLock({ $0.beginWriting() ? $0.next(&flight) : nil }) { write(first) }
    }

    /// The caller holds the writer's place, has been told what to do first, and gives the place back here. It may be in the
    /// middle of something, so that the receiver is told of nothing here: what would tell it is done by the loop later.
    private func write(_ first: Outgoing.Next) {
        let isLoop = eventLoop.isCurrent
        var next = first
        var turns = 0
        while next == .send {
            turns += 1
            let count = flight.count
            switch socket.send(flight.bytes, flight.sharedBytes) {
            case .bytes(count) where isLoop || turns < SocketStream.turnsForOthers:
                flight.removeAll()
                next = outgoing.withLock { outgoing in
                    outgoing.didSend(count)
                    return outgoing.next(&flight)
                }
            case .bytes(let part):
                // After half a write the next would block, so it is not tried.
                flight.removeFirst(part)
                return handOver(sent: part)
            case .wouldBlock:
                return handOver(sent: 0)
            case .failed(let error):
                outgoing.withLock { _ = $0.block() }
                return eventLoop.submit { [self] in writingFailed(error) }
            }
        }
        switch next {
        case .send, .rest: break
        case .finish: onLoop { $0.sendEnd() }
        case .close: eventLoop.submit { [self] in close() }
        }
    }

    /// The loop goes on when the socket takes more.
    private func handOver(sent: Int) {
        let goesOn = outgoing.withLock { outgoing in
            outgoing.didSend(sent)
            return outgoing.block()
        }
        if goesOn { onLoop { $0.awaitRoom() } } else { eventLoop.submit { [self] in close() } }
    }

    private func onLoop(_ step: @escaping @Sendable (SocketStream) -> Void) {
        if eventLoop.isCurrent { step(self) } else { eventLoop.submit { [self] in step(self) } }
    }

    // MARK: on the loop

    private func awaitRoom() {
        guard outcome == nil else { return }
        startPatience()
        setInterest(interest.union(.writing))
    }

    func roomAppeared() {
        guard let first = outgoing.withLock({ $0.resumeWriting() ? $0.next(&flight) : nil }) else {
            return setInterest(interest.subtracting(.writing))
        }
        write(first)
        let (isBlocked, waiting) = outgoing.withLock { ($0.writer == .blocked, $0.waiting) }
        if !isBlocked {
            patience?.cancel()
            patience = nil
            setInterest(interest.subtracting(.writing))
        }
        if !interest.contains(.reading), !hasReadEnd, waiting <= limits.pauseReading / 2 {
            setInterest(interest.union(.reading))
        }
    }

    /// A peer that takes nothing for so long is as good as gone.
    private func startPatience() {
        guard patience == nil else { return }
        let sent = outgoing.withLock { $0.sent }
        patience = eventLoop.schedule(at: eventLoop.now.advanced(by: limits.patience)) { [weak self] in
            self?.patienceIsOver(sentBefore: sent)
        }
    }

    private func patienceIsOver(sentBefore: UInt64) {
        patience = nil
        let (sent, waiting) = outgoing.withLock { ($0.sent, $0.waiting) }
        guard waiting > 0 else { return }
        if sent > sentBefore { return startPatience() }
        end(
            .overrun(
                .patience,
                "the peer has taken none of \(waiting) waiting bytes for \(limits.patience) (patience)"))
    }

    /// The peer is gone, but what it has said before can still be read, and the receiver wants it first.
    private func writingFailed(_ error: SystemError) {
        drainReads()
        end(StreamEnd(error))
        // If somebody else had ended the stream while the writer was at work, it is the writer who closes.
        close()
    }
}
