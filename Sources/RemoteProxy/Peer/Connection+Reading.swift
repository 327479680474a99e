// The reading side of a connection: frames to messages, each message to where it belongs. Replies are delivered as soon as
// they are read; requests that may not begin yet wait in `waiting` (`Connection+Waiting`). On the loop.

import RPCWire

extension Connection {
    /// How many frames one turn takes before the rest waits.
    static let framesPerTurn = 256

    func readFrames() {
        reading = .now
        defer { handOnReplies() }
        var budget = Self.framesPerTurn
        // Counted once for all that is read. A hello may have it go on with another.
        var session = session
        while !phase.isOver {
            if session !== self.session { session = self.session }
            if let limit = waiting.isEmpty ? nil : overrunByWaiting { return pauseReading(limit) }
            guard budget > 0 else { return readLater() }
            budget -= 1
            let mayBegin = mayBegin(session)
            if !mayBegin, waiting.isEmpty, !hasPaused {
                // Requests that are soon over are read when those before them are, and so only once. A turn later the rest is
                // read in any case, since there may be replies among it.
                hasPaused = true
                return readLater()
            }
            if mayBegin { hasPaused = false }
            do {
                guard let frame = try frames.next() else {
                    looked()
                    stream.resumeReading()
                    return finishIfAnswered()
                }
                noteFraming()
                // It says nothing, but has taken time.
                if frame.isEmpty { continue }
                if case .accepted = role {
                    if !gate.login.isLocked, let request = messages.decodeRequest(frame) {
                        if mayBegin {
                            accept(request, in: consume frame, by: session)
                        } else {
                            keepWaiting(frame)
                        }
                    } else {
                        acceptOrKeep(messages.decode(frame), frame, mayBegin)
                    }
                    _ = phase.greeted()
                } else {
                    if let reply = messages.decodeReply(frame) {
                        accept(reply, in: frame)
                    } else {
                        acceptOrKeep(messages.decode(frame), frame, mayBegin)
                    }
                    if phase.step == .greeting, !saysHello { _ = phase.greeted() }
                }
            } catch {
                guard waiting.isEmpty else {
                    // Not before the requests that came whole. The decoder says the same again.
                    reading = .paused
                    return
                }
                return refuse(error)
            }
        }
    }

    /// Any message but the plainest ones.
    @inline(__always)
    private func acceptOrKeep(_ incoming: consuming Incoming, _ frame: Bytes, _ mayBegin: Bool) {
        if gate.login.isLocked || mayBegin || passesWaiting(incoming) {
            accept(incoming, size: frame.count)
        } else {
            keepWaiting(frame)
        }
    }

    func readLater() {
        reading = .later
        stream.loop.submit { [self] in readFrames() }
    }

    private func note(_ end: CallEnd, to id: RPCIdentifier) {
        if case .integer(let number) = id { replies.append(CallReply(number: number, end: end)) }
    }

    /// All that came together: callers that are resumed while the rest is still being read would get in the way of it.
    func handOnReplies() {
        guard !replies.isEmpty else { return }
        leaveIfAnswered()
        peer.replied(&replies, over: channel)
        // One by one: there are few, and to remove a range takes longer.
        while !replies.isEmpty { replies.removeLast() }
    }

    private func noteFraming() {
        guard phase.step == .greeting, let framing = frames.framing else { return }
        channel.framing = framing
    }

    @inline(__always)
    func accept(_ incoming: consuming Incoming, size: Int) {
        if gate.login.isLocked { return acceptLocked(incoming) }
        switch consume incoming {
        case .single(let message): accept(message, in: nil, size: size)
        case .batch(let messages):
            let answered = messages.count { $0.isAnswered }
            let batch = answered == 0 ? nil : BatchReply(count: answered, limit: peer.settings.limits.maximumFrameSize)
            for message in messages { accept(message, in: batch) }
        case .refused(let error):
            refuseText(error)
        }
    }

    /// What comes most to who has dialled: the same as any other reply without being told apart from all else.
    @inline(__always)
    private func accept(_ reply: PlainReply, in frame: consuming Bytes) {
        // A ping's number is negative, which no plain reply's is; and who has dialled never waits for the other end to log in.
        noteReply(frame.count, isPong: false)
        let value = reply.value(insteadOf: frame)
        if reply.number == Self.helloID, saysHello { return welcomed(value) }
        replies.append(CallReply(number: reply.number, end: .result(value)))
    }

    func refuseText(_ error: ErrorObject) {
        session.overran(error.limit)
        session.answer(.null, with: error, in: nil)
        // Bytes that were never JSON are not a caller with a typing error but another protocol.
        guard phase.step == .greeting, error.code == ErrorCode.parseError else { return }
        if case .dialled = role {
            gate.verdict = "\(stream.remoteAddress) does not answer as a server of this kind does: \(error.message)"
        }
        refuseFurther()
    }

    /// - Parameter size: of its frame, if it came alone.
    private func accept(_ message: consuming Message, in batch: BatchReply?, size: Int? = nil) {
        switch consume message {
        case .request(let request): accept(request, in: batch)
        case .result(let id, let value):
            noteReply(size, isPong: id.isOfPing)
            guard !isHello(id) else { return welcomed(value) }
            note(.result(value), to: id)
        case .failure(let id, let error):
            noteReply(size, isPong: false)
            session.overran(error.limit)
            guard !isHello(id) else { return isTurnedAway(error) ? turnBack() : welcomed(nil) }
            if isOurKind, error.isDraining {
                leave(because: error.message)
                peer.refused(id, over: channel)
            } else {
                note(.failure(error), to: id)
            }
        case .unreadable(let request, let error):
            session.refuse(request, with: error, from: self, in: batch)
            if request.id == nil { reportReceipts() }
        case .invalid(let id, let error):
            session.overran(error.limit)
            session.answer(id, with: error, in: batch)
        case .ignored(let why):
            peer.log("ignored a message from \(stream.remoteAddress): \(why)")
        }
    }

    private func accept(_ request: consuming Request, in batch: BatchReply?) {
        if batch == nil, request.isPing { return answerPing() }
        let isAnswered = request.id != nil
        session.accept(request, from: self, in: batch)
        // An answer reports a call; a post has none.
        if !isAnswered { reportReceipts() }
    }

    /// What comes most to who is dialled. No ping: the number of one is negative, which no plain request's is.
    @inline(__always)
    func accept(_ request: PlainRequest, in frame: consuming Bytes, by session: Session) {
        session.accept(Request(request, in: frame), from: self, in: nil)
        if !request.isAnswered { reportReceipts() }
    }

    /// The framing is broken: where the next message begins is anybody's guess, so nothing more is read.
    private func refuse(_ error: FramingError) {
        if gate.login.isLocked, error.limit == .maximumFrameSize {
            return endGate(.loginInput, gate.explanation(of: .loginInput))
        }
        if error == .cutOff { return refuseHalf(error) }
        session.overran(error.limit)
        if let text = error.plainAnswer {
            text.withUnsafeBytes { _ = channel.append($0) }
            stream.flush()
        } else {
            noteFraming()
            session.answer(.null, with: ErrorObject(error), in: nil)
        }
        if case .dialled = role, phase.step == .greeting {
            gate.verdict = "\(stream.remoteAddress) does not answer as a server of this kind does: \(error)"
        } else {
            gate.verdict = "what \(stream.remoteAddress) sent cannot be read: \(error)"
        }
        peer.log("closed \(stream.remoteAddress): \(error)")
        // Whoever resumed would send the same again.
        session.endWithConnection()
        refuseFurther()
    }

    /// Of a peer that says no more. It still gets the answers to all else.
    private func refuseHalf(_ error: FramingError) {
        session.answer(.null, with: ErrorObject(error), in: nil)
        peer.log("ignored the last message of \(stream.remoteAddress): \(error)")
        finishIfAnswered()
    }

    private func refuseFurther() {
        _ = phase.closed()
        stream.close()
    }

    /// Every single answer to a call counts, and the other end keeps it until it is told that it has come.
    private func noteReply(_ bytes: Int?, isPong: Bool) {
        if phase.step != .greeting || !saysHello { noteUse() }
        guard let bytes, isOurKind else { return }
        if isPong { return }
        session.receipts.reply(bytes: bytes)
        reportReceipts()
    }

    private func reportReceipts() {
        let due = session.receipts.report
        if due != .notYet, isOurKind { report(flush: due == .atOnce) }
    }
}
