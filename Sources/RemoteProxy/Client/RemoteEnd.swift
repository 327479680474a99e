// What the subjects around a remote object may know of the other end of its connection.

import RPCSockets
import RPCWire

/// The other end of the connection over which a chain's calls go.
final class RemoteEnd: Sendable {
    private let requester: Requester
    private let object: RemoteObject
    /// The client that dials; nil where the other end dials.
    private let client: RPCClient?

    init<Service>(_ remote: RemoteSubject<Service>) {
        requester = remote.peer
        object = RemoteObject(peer: ObjectIdentifier(remote.peer), service: remote.service, name: remote.object)
        client = remote.owner as? RPCClient
    }

    /// The time of a call whose caller has set no deadline, in nanoseconds.
    var timeout: Int64 { requester.timeout }

    /// Shared by all calls of the client. Nil where the other end dials.
    var retryBudget: RetryBudget? { client?.retryBudget }

    /// Whether this end dials.
    var dials: Bool { client != nil }

    /// The present state of the client's connection, and every later one; nil where the other end dials.
    var states: AsyncStream<RPCClient.State>? { client?.states }

    var isConnected: Bool { requester.reach.isConnected }

    /// Whether the last attempt to connect has failed.
    var isUnreachable: Bool { requester.reach.isUnreachable }

    /// Makes the client connect, unless it does so by itself.
    func connect() { requester.connectionWanted() }

    /// The failure of a call that has waited for a connection until its deadline.
    var outOfTime: RPCError { .unavailable(requester.whyUnavailable) }

    /// Whether a task in that scope holds the object.
    func isHeld(in scope: CallScope) -> Bool { scope.rights.contains { $0.name(of: object) != nil } }

    /// The scope's part for a call that ends when this end cannot be reached.
    /// - Parameter isLast: whether no other end is left. Then the call waits until it has been sent.
    func attempt(isLast: Bool) -> FailoverAttempt { FailoverAttempt(at: requester, isLast ? .endsIfSent : .ends) }

    /// Calls the action once, when this end is closed for good. If it is closed already, returns nil and never calls the
    /// action.
    /// - Returns: an object to keep for as long as the action is wanted.
    func whenClosed(_ action: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)? {
        ClosingWatch(requester, action)
    }
}

extension Subject {
    /// The other end that this chain leads to; nil while there is none, or it is not known.
    var remoteEnd: RemoteEnd? { layer(RemoteSubject<Service>.self).map { RemoteEnd($0) } }

    /// The other end to which all calls of this chain go. Nil where that is not known or may change: behind a lazy or
    /// late-bound proxy, and among several.
    var onlyRemoteEnd: RemoteEnd? {
        var end: any Subject<Service> = self
        // Limited, because a chain may lead back to itself.
        for _ in 0..<1_000 {
            guard let layer = end as? any WrappingSubject<Service> else { break }
            end = layer.next
        }
        return (end as? RemoteSubject<Service>).map { RemoteEnd($0) }
    }
}
