// The reading side of a connection: frames to messages, each message to where it belongs. On the loop.

import RPCWire

extension Connection {
    /// How many requests may wait for a worker, and how many frames one turn takes, before the rest waits too. A peer that pipelines more is
    /// served at the pace of its subjects instead of being refused.
    private static let maximumBacklog = 256

    func readFrames() {
        isReadingLater = false
        var budget = Self.maximumBacklog
        while !isRefused {
            if isFullOfWaiting { return stall() }
            // With nothing waiting a connection may always add one, or a busy neighbour would keep it out for ever.
            guard budget > 0, peer.runner.backlog < Self.maximumBacklog || waitingRequests == 0,
                peer.runner.backlog == 0 || !isFullInAll
            else {
                return readLater()
            }
            budget -= 1
            do {
                guard let frame = try frames.next() else {
                    looked()
                    stream.resumeReading()
                    return finishIfAnswered()
                }
                noteFraming()
                accept(messages.decode(frame))
                isFirstMessage = false
            } catch {
                return refuse(error)
            }
        }
    }

    /// The connection has as many requests as it may, but not all of them have begun: whether the next one is one too
    /// many is known only when they have.
    private var isFullOfWaiting: Bool { waitingRequests > 0 && calls.isFull }

    private func readLater() {
        isReadingLater = true
        stream.loop.submit { [self] in readFrames() }
    }

    /// Nothing more is read until a request has begun or ended.
    private func stall() {
        isReadingLater = true
        isStalled = true
    }

    func unstall() {
        guard isStalled else { return }
        isStalled = false
        readLater()
    }

    private func noteFraming() {
        guard isFirstMessage, let framing = frames.framing else { return }
        agreement.framing = framing
    }

    private func accept(_ incoming: Incoming) {
        if gate.login.isLocked { return acceptLocked(incoming) }
        switch incoming {
        case .single(let message):
            accept(message, in: nil)
        case .batch(let messages):
            let answered = messages.count { $0.isAnswered }
            let batch = answered == 0 ? nil : BatchReply(count: answered, limit: peer.settings.frames.maximumFrameSize)
            for message in messages { accept(message, in: batch) }
        case .refused(let error):
            refuseText(error)
        }
    }

    func refuseText(_ error: ErrorObject) {
        if error.code == ErrorCode.batchTooLarge { overran(.maximumBatch) }
        answer(.null, with: error, in: nil)
        // Bytes that were never JSON are not a caller with a typing error but somebody else's protocol.
        if isFirstMessage, error.code == ErrorCode.parseError { refuseFurther() }
    }

    private func accept(_ message: Message, in batch: BatchReply?) {
        switch message {
        case .request(let request):
            accept(request, in: batch)
        case .result(let id, let value):
            if !isHello(id, failed: false) { peer.replied(to: id, with: .result(value), over: self) }
        case .failure(let id, let error):
            guard !isTurnedAway(id, error), !isHello(id, failed: true) else { return }
            if error.isDraining {
                leave(because: error.message)
                peer.refused(id, over: self)
            } else {
                peer.replied(to: id, with: .failure(error), over: self)
            }
        case .invalid(let id, let error):
            answer(id, with: error, in: batch)
        case .ignored(let why):
            peer.log("ignored a message from \(stream.remoteAddress): \(why)")
        }
    }

    /// The framing is broken: where the next message begins is anybody's guess, so nothing more is read.
    private func refuse(_ error: FramingError) {
        if gate.login.isLocked, error.limit == .maximumFrameSize {
            return endGate(.loginInput, gate.explanation(of: .loginInput))
        }
        overran(error.limit)
        if let text = error.plainAnswer {
            text.withUnsafeBytes { _ = stream.append($0, framing: .lines) }
            stream.flush()
        } else {
            noteFraming()
            answer(.null, with: ErrorObject(code: error.code, message: "\(error)"), in: nil)
        }
        peer.log("closed \(stream.remoteAddress): \(error)")
        refuseFurther()
    }

    private func refuseFurther() {
        isRefused = true
        stream.finish()
    }
}
