// What a call does when its end cannot be reached for now: waits, or ends so that another end can be asked.

/// What a waiting call does when its peer becomes unreachable: an attempt to connect has failed, or the connection was
/// given up because the other end did not answer. The loss of a connection alone makes no peer unreachable.
enum WhenUnreachable: Sendable {
    /// It waits for the next connection until its deadline.
    case waits
    /// It ends if it has been sent. If not, it waits for the next connection until its deadline.
    case endsIfSent
    /// It ends, and so does a call that begins while the peer is unreachable.
    case ends
}

/// Says in a scope what the calls to one peer do when it becomes unreachable. Calls to other peers wait.
struct FailoverAttempt: Sendable {
    let peer: ObjectIdentifier
    let whenUnreachable: WhenUnreachable

    init(at peer: Peer, _ whenUnreachable: WhenUnreachable) {
        self.peer = ObjectIdentifier(peer)
        self.whenUnreachable = whenUnreachable
    }
}

/// Stands behind an `RPCError` when the call ended because the connection was lost or could not be made. Never sent, so
/// that an error of the same code from the other end is told apart.
struct PeerUnreachable: Error, CustomStringConvertible {
    let description: String
}
