// The caller of a running call, as its subject sees it.

import RPCWire

/// The other end of the session over which the running call came. All calls of a session have the same caller, whichever
/// connection serves the session.
public struct Caller: Sendable {
    private let link: Link
    package var peer: Requester { link.requester }

    package init(_ link: Link) { self.link = link }

    /// Whether this caller is the other end of that link.
    func isAt(_ link: Link) -> Bool { self.link === link }

    /// Tells the sessions of one process apart.
    package var sessionIdentifier: ObjectIdentifier { ObjectIdentifier(link) }

    /// Where the caller calls from: `tcp://127.0.0.1:51234`, or `unix:///run/app.sock`. After a reconnection, the new address.
    public var address: String { link.address }
    /// Names the session. It is the same for all calls of the session, and cannot be guessed.
    public var session: String { link.id }
    /// The identity that the caller has proved, by a token or by the user id of its process. Nil when it has proved none.
    public var identity: Identity? { link.identity }

    /// The caller of the call that this task serves; nil outside a call.
    public static var current: Caller? { CallScope.current?.caller }

    /// Counts that the caller has run into a limit.
    func overran(_ limit: Limit) { link.overran(limit) }

    /// Calls the action once, when this caller's session is over. It is over when the caller has left, or has not come back in
    /// time after its connection was lost. If it is over already, the action is called before this returns.
    ///
    /// ```swift
    /// func subscribe() async throws {
    ///     guard let caller = Caller.current else { return }
    ///     caller.whenGone { [seats] in seats.free(caller.session) }
    /// }
    /// ```
    ///
    /// Callable from any thread. The action is called on no particular thread and must not block. It is kept until then and
    /// cannot be taken back, so ask once for each caller, not with each call. A proxy for the caller leaves a multicast proxy
    /// by itself.
    public func whenGone(_ action: @escaping @Sendable () -> Void) { link.whenGone(action) }
}

extension ServiceProxy {
    /// A proxy for an object that the caller has exported at its own end.
    /// - Parameter name: which object, if the caller exported several of this service.
    public init(_ caller: Caller, named name: String? = nil) {
        self.init(
            subject: RemoteSubject(
                peer: caller.peer, service: Self.methodTable.service.name, object: name, owner: nil))
    }
}
