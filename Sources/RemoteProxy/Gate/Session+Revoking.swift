// What becomes of callers that are in when the list of tokens is replaced: those that the new list does not let in lose
// their connection and their session.
//
// The list is replaced first, then every connection and session is judged on its own loop. The server knows a connection
// before it opens, so one that it does not know yet opens, and logs in, under the new list. A connection that goes on
// with another session changes its loop and might be missed there; it is judged once more when the server knows it in
// its new place.

import RPCSockets
import RPCWire

extension Session {
    /// Ends the session and the connection that serves it when the list that counts now would not let its caller in. A
    /// caller that has not logged in yet is left alone. On the loop.
    /// - Returns: whether the session was revoked.
    @discardableResult
    func endIfRevoked() -> Bool {
        guard table != nil, let tokens = peer.settings.tokens.withLock({ $0 }) else { return false }
        guard connection?.gate.login.isLocked != true, !tokens.keeps(peer.identity, by: entry) else { return false }
        let name = peer.identity.map { "'\($0.name)'" } ?? "a caller without a token"
        // Nor are the posts wanted that it left behind.
        hasLeft = false
        let why = "the list of tokens has changed and does not let in \(name) as before"
        if let connection { connection.endRevoked(because: why) } else { end(why) }
        return true
    }
}

extension Connection {
    /// The list of tokens has been replaced. From anywhere.
    package func judgeAgain() { stream.loop.submit { [self] in session.endIfRevoked() } }

    fileprivate func endRevoked(because why: String) {
        peer.log("closed \(stream.remoteAddress): \(why)")
        gate.verdict = why
        _ = phase.closed()
        session.end(why)
        stream.abort()
    }

    /// Whether neither what this connection has shown nor what the session stands on was revoked, asked before the
    /// connection takes the session over.
    func mayTakeOver(_ session: Session) -> Bool {
        guard let tokens = gate.settings.tokens.withLock({ $0 }) else { return true }
        return tokens.keeps(gate.login.identity, by: gate.login.entry) && !session.endIfRevoked()
    }
}

extension SessionTable {
    /// The list of tokens has been replaced. Reaches the sessions that wait for their clients, besides all others.
    package func judgeAgain() {
        for session in all { session.peer.loop.submit { session.endIfRevoked() } }
    }
}
