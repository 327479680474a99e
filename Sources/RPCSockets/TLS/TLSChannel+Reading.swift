// How a channel with TLS receives bytes, shakes hands, and ends. Everything here runs on the loop.

package import RPCWire

extension TLSChannel: ByteReceiver {
    /// The first byte of every connection with TLS.
    private static let firstByte: UInt8 = 0x16

    package var wantsMore: Bool {
        let (receiver, isWaiting) = state.withLock { ($0.receiver, !$0.input.isEmpty) }
        return !isWaiting && receiver?.wantsMore != false
    }

    package func received(_ bytes: Bytes) {
        let (phase, receiver, acceptance) = state.withLock { ($0.phase, $0.receiver, $0.acceptance) }
        switch phase {
        case .open: take(bytes)
        case .plain: receiver?.received(bytes)
        case .over: break
        case .undecided: if let acceptance { decide(bytes, acceptance) }
        case .shakingHands:
            guard let acceptance else { return take(bytes) }
            let isFirst = state.withLock { state in
                state.input.append(bytes)
                return state.input.count == 1
            }
            if isFirst { acceptance.line.join { [self] in takeInput() } }
        }
    }

    /// Looks at the first byte of an accepted connection.
    private func decide(_ bytes: Bytes, _ acceptance: Acceptance) {
        if bytes.memory.first != Self.firstByte { return acceptance.admitsPlaintext ? admit(bytes) : refuse(bytes) }
        guard acceptance.begins() else {
            let whenShaken = state.withLock { state in
                state.reason = .failed("TLS: there is no room for another handshake")
                return state.whenShaken.take()
            }
            whenShaken?(.crowdedOut)
            return abort()
        }
        do throws(SetupError) {
            let connection = try TLSConnection(accepting: acceptance.context)
            state.withLock { ($0.phase, $0.connection) = (.shakingHands, connection) }
            if acceptance.admitsPlaintext { start(acceptance.patience) }
            received(bytes)
        } catch {
            fail(error.description, isLasting: false)
        }
    }

    /// Takes the bytes that have come since the handshake joined the line.
    private func takeInput() {
        while let bytes = state.withLock({ $0.input.isEmpty ? nil : $0.input[0] }) {
            // Stays in the queue meanwhile: bytes that arrive now must wait behind it.
            take(bytes)
            state.withLock { _ = $0.input.popFirst() }
        }
        state.withLock { $0.input.removeAll() }
        inside.resumeReading()
    }

    /// Takes sealed bytes. Delivers what is in them, and answers for TLS itself.
    func take(_ bytes: Bytes) {
        let (wasShaking, phase, hasOutput, wasStuck) = state.withLock { state in
            guard let connection = state.connection, state.phase == .shakingHands || state.phase == .open else {
                return (false, TLSConnection.Phase.open, false, false)
            }
            connection.take(bytes) { state.opened.append($0) }
            let hasOutput = !connection.output.isEmpty
            if hasOutput { sendOutput(of: connection) }
            let wasShaking = state.phase == .shakingHands
            if wasShaking, connection.phase == .open {
                state.phase = .open
                state.proof = connection.peerName.map { .certificate($0) }
            }
            // What a session needs has come before the first bytes of the server.
            if let resumption, !state.isKept, !state.opened.isEmpty, let session = connection.session {
                state.isKept = true
                resumption.keep(session)
            }
            return (wasShaking, connection.phase, hasOutput, exchange(&state.isStuck, with: false))
        }
        if hasOutput { inside.flush(.now) }
        if wasShaking, phase == .open { shaken() }
        if wasStuck { seal() }
        deliver()
        if case .failed(let why, let isLasting) = phase { fail(why, isLasting: isLasting) }
    }

    private func shaken() {
        let (whenShaken, wasResumed, deadline, _) = state.withLock { state in
            (
                state.whenShaken.take(), state.connection?.wasResumed == true, state.deadline.take(),
                state.acceptance.take()
            )
        }
        deadline?.cancel()
        whenShaken?(.finished(wasResumed: wasResumed))
        seal()
        if state.withLock({ $0.isClosing }) { close() }
    }

    /// Gives the receiver what was opened, and then the end if the peer has sent one. The receiver may move or end the channel
    /// between two pieces.
    func deliver() {
        while true {
            let next: (any ByteReceiver, Bytes)? = state.withLock { state in
                guard state.phase == .open, let receiver = state.receiver, let bytes = state.opened.popFirst() else {
                    return nil
                }
                // Of an idle connection nothing is left.
                if state.opened.isEmpty { state.opened.removeAll() }
                return (receiver, bytes)
            }
            guard let (receiver, bytes) = next else { return tellEnd() }
            receiver.received(bytes)
        }
    }

    package func outputChanged() {
        seal()
        state.withLock { $0.receiver }?.outputChanged()
    }

    package func pausedReading() { state.withLock { $0.receiver }?.pausedReading() }

    // MARK: peers without TLS

    private func admit(_ bytes: Bytes) {
        let (receiver, deadline, _, _) = state.withLock { state in
            (state.phase, state.isPlain) = (.plain, true)
            // What was written before the first byte came is sent as it is.
            inside.write { queue, _ in
                queue.append(state.queue.bytes)
                queue.append(state.queue.sharedBytes)
            }
            state.queue.letGo()
            return (state.receiver, state.deadline.take(), state.whenShaken.take(), state.acceptance.take())
        }
        deadline?.cancel()
        inside.flush(.more)
        receiver?.received(bytes)
    }

    /// Answers once, as the peer frames its messages, and ends.
    private func refuse(_ bytes: Bytes) {
        inside.write { queue, _ in MessageWriter.write(.plaintext, toPeerBeginningWith: bytes, into: &queue) }
        fail("the peer does not speak TLS", isLasting: true)
    }

    // MARK: the end

    /// The handshake may take so long from now on.
    func start(_ patience: Duration) {
        guard patience > .zero else { return }
        let timer = loop.schedule(at: loop.now.advanced(by: patience)) { [weak self] in
            guard let self else { return }
            let whenShaken = state.withLock { state in
                state.reason = .failed("TLS: the handshake took more than \(patience)")
                return state.whenShaken.take()
            }
            whenShaken?(.late)
            // A peer that is so slow would not close its end either.
            abort()
        }
        state.withLock { $0.deadline = timer }
    }

    /// Ends the channel because of what TLS says. What it has told the peer still leaves.
    func fail(_ why: String, isLasting: Bool) {
        let (isFirst, whenShaken, deadline) = state.withLock { state in
            defer {
                // A server tells its verdict on a certificate only after the handshake.
                let isRefused = state.phase == .open && resumption != nil && isLasting
                if state.reason == nil {
                    let isBroken = state.phase == .open
                    state.reason =
                        isRefused ? .refused(why) : isBroken ? .broken("TLS: \(why)") : .failed("TLS: \(why)")
                }
                state.phase = .over
                state.queue.letGo()
            }
            return (state.phase != .over, state.whenShaken.take(), state.deadline.take())
        }
        deadline?.cancel()
        whenShaken?(.failed(why, isLasting: isLasting))
        if isFirst { inside.close() }
    }

    /// Tells the receiver once that the peer sends no more, if the peer has said so under TLS.
    private func tellEnd() {
        let receiver = state.withLock { state -> (any ByteReceiver)? in
            guard let receiver = state.receiver, state.phase == .open, !state.hasToldEnd,
                state.connection?.hasPeerEnded == true
            else { return nil }
            state.hasToldEnd = true
            return receiver
        }
        guard let receiver else { return }
        let goesOn = receiver.peerFinished()
        state.withLock { $0.goesOn = goesOn }
        if goesOn { return }
        state.withLock { if $0.reason == nil { $0.reason = .remote } }
        close()
    }

    package func peerFinished() -> Bool {
        let (phase, receiver, hasToldEnd, goesOn) = state.withLock { ($0.phase, $0.receiver, $0.hasToldEnd, $0.goesOn) }
        switch phase {
        case .plain: return receiver?.peerFinished() ?? false
        case .over: return false
        case .undecided: return false
        case .shakingHands, .open:
            if hasToldEnd { return goesOn }
            // Anyone on the way can end a connection so. Only the end that is sealed is the peer's.
            state.withLock { if $0.reason == nil { $0.reason = .failed("TLS: the connection was cut off") } }
            return false
        }
    }

    package func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {
        let (whenShaken, deadline, hasBegun) = state.withLock { state in
            // Without a byte of the peer there was no handshake.
            let hasBegun = state.connection != nil
            let written = state.isPlain ? sent : state.records.written(whenSent: sent)
            (state.phase, state.connection) = (.over, nil)
            state.outcome = (state.reason ?? end, written)
            return (state.whenShaken.take(), state.deadline.take(), hasBegun)
        }
        deadline?.cancel()
        if hasBegun { whenShaken?(.failed("the connection ended within the handshake", isLasting: false)) }
        report()
    }

    /// Tells the receiver how the channel has ended, if it has.
    func report() {
        let told = state.withLock { state -> (any ByteReceiver, ChannelEnd, UInt64)? in
            guard let receiver = state.receiver, let outcome = state.outcome else { return nil }
            state.receiver = nil
            return (receiver, outcome.end, outcome.sent)
        }
        if let (receiver, end, sent) = told { receiver.ended(end, sentUpTo: sent) }
    }
}
