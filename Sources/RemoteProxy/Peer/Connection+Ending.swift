// How a connection comes to its end: drained by this end, left by the other, replaced by another. On the loop, unless
// it says otherwise.

import RPCWire

extension Connection {
    /// A request of its session has run.
    @inline(__always)
    func answered() {
        gate.requestEnded()
        unstall()
        finishIfAnswered()
    }

    /// Ends the connection when all that is owed over it has been said. What runs for a session that goes on is answered
    /// over the next one.
    func finishIfAnswered() {
        guard waiting.isEmpty, isEnding || !isOurKind && session.calls.isDrained else { return }
        // After this turn, so that the last answer is in the queue before the connection finishes.
        stream.loop.submit { [self] in
            // Without a goodbye the other end would stop the posts that it has not run yet.
            if case .dialled = role, phase.isEnding { sayGoodbye() } else { stream.close() }
        }
    }

    /// Asked after every answer, so what is seldom true comes first.
    private var isEnding: Bool {
        phase.isEnding && reading == .now && (session.isResumable || session.calls.count == 0)
    }

    /// Nothing is awaited from this connection any more; when nothing runs for it either, it ends. Safe from anywhere.
    func finishWhenIdle() {
        stream.loop.submit { [self] in
            phase.left()
            finishIfAnswered()
        }
    }

    /// The other end is going away: new calls wait for the next connection.
    func leave(because why: String) {
        guard peer.leave(channel, why: why, whenIdle: { [self] in finishWhenIdle() }) else { return }
        session.endWithConnection()
        // Or the other end could not say which of its posts have come.
        if isOurKind { report(flush: false) }
        // What callers have queued here and promised to flush later is theirs to be sent.
        stream.flush()
        events.leaving(self, why)
    }

    /// Another connection serves the session now. Whatever still comes over this one is too late.
    func replaced() {
        guard phase.closed() else { return }
        peer.ended(channel, sent: .max, why: "another connection has taken its place", sessionGoesOn: true)
        stream.abort()
    }

    /// The other end says that it has more than this one has sent: it counts wrong, or a byte has changed on the way. Which calls
    /// it would still run and answer nobody knows, so the session ends here, and with it every connection that serves it.
    func endMiscounted() {
        let why = "\(stream.remoteAddress) says that it has more of the session than it was sent"
        peer.log("closed the connection: \(why)")
        gate.verdict = why
        _ = phase.closed()
        if session.connection !== self { session.connection?.replaced() }
        session.end(why)
        stream.abort()
    }

    /// Begins nothing new; what runs goes on. The connection ends when the last call has answered: a peer of our own
    /// kind is told, and closes its end when it has all its answers, so that a call on its way here is refused and
    /// not lost; for another peer this end closes. Safe from anywhere.
    package func drain() {
        stream.loop.submit { [self] in
            session.calls.drain()
            if isOurKind {
                channel.notify(SystemMethod.drain)
            } else {
                finishIfAnswered()
            }
        }
    }

    /// Says that this end does not come back, and ends the connection. Safe from anywhere.
    func sayGoodbye() {
        channel.sayGoodbye()
    }

    /// The same, but without waiting for a peer that does not read. Safe from anywhere.
    package func cutOff() {
        if isOurKind { channel.notify(SystemMethod.goodbye) }
        stream.abort()
    }
}
