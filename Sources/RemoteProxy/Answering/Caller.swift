// Who is calling, as a subject sees it.

import RPCWire

/// The other end of the session over which the running call came. One for all its calls, whichever connection serves
/// it.
public struct Caller: Sendable {
    private let end: Session
    package var peer: Peer { end.peer }

    init(_ end: Session) { self.end = end }

    /// For a peer that no connection serves.
    package init(_ peer: Peer) { end = Session(peer, in: nil) }

    /// Whether it is the other end of that session.
    func isAt(_ session: Session) -> Bool { end === session }

    /// Tells the sessions of one process apart.
    package var sessionIdentifier: ObjectIdentifier { ObjectIdentifier(end) }

    /// Where it calls from: `tcp://127.0.0.1:51234`, or `unix:///run/app.sock`. After a reconnection, where it calls
    /// from now.
    public var address: String { end.address }
    /// Names the session; the same for all its calls. Not guessable.
    public var session: String { end.id }
    /// Who it has proved to be, by a token or by the user id of its process; nil when it was not asked to.
    public var identity: Identity? { peer.identity }

    /// The caller of the call being served by this task; nil outside one.
    public static var current: Caller? { CallScope.current?.caller }

    /// It has run into a limit.
    func overran(_ limit: Limit) { end.overran(limit) }

    /// Runs the action once, when the session is over and with it whatever is held for this caller; at once if it is
    /// over already. Not on any particular thread.
    package func whenGone(_ action: @escaping @Sendable () -> Void) { end.whenGone(action) }
}

extension ServiceProxy {
    /// A proxy for an object that the caller has exported at its own end.
    public init(_ caller: Caller, named name: String? = nil) {
        self.init(
            subject: RemoteSubject(
                peer: caller.peer, service: Self.methodTable.service.name, object: name, owner: nil))
    }
}
