// What becomes of the calls that wait for a connection when the other end does not let this one in.

import RPCSockets
import RPCWire

extension Peer {
    /// Ends the waiting calls: the next attempt will be answered alike, and their callers can do something about it.
    func turnedAway(because why: String) {
        let ended = state.withLock { state in
            let removed = state.outgoing.waiting.compactMap { state.outgoing.withdraw($0.id) }
            return state.waiters(of: removed) { wasSent in
                .failed(RPCError(.unauthenticated, why, outcome: wasSent ? .unknown : .notExecuted))
            }
        }
        finish(ended)
    }
}
