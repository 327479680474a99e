// The caller of a running call, as a subject sees it.

import RPCWire

/// The other end of the session over which the running call came. One for all its calls, whichever connection serves
/// it.
public struct Caller: Sendable {
    private let link: Link
    package var peer: Requester { link.requester }

    package init(_ link: Link) { self.link = link }

    /// Whether it is the other end of that link.
    func isAt(_ link: Link) -> Bool { self.link === link }

    /// Tells the sessions of one process apart.
    package var sessionIdentifier: ObjectIdentifier { ObjectIdentifier(link) }

    /// Where it calls from: `tcp://127.0.0.1:51234`, or `unix:///run/app.sock`. After a reconnection, where it calls
    /// from now.
    public var address: String { link.address }
    /// Names the session; the same for all its calls. Not guessable.
    public var session: String { link.id }
    /// The identity that it has proved, by a token or by the user id of its process; nil when it was not asked to.
    public var identity: Identity? { link.identity }

    /// The caller of the call being served by this task; nil outside one.
    public static var current: Caller? { CallScope.current?.caller }

    /// It has run into a limit.
    func overran(_ limit: Limit) { link.overran(limit) }

    /// Has the action called once, when this caller's session is over: the caller has left, or has not come back in time after
    /// its connection was lost. If that is so already the action is called at once, before this returns.
    ///
    /// ```swift
    /// func subscribe() async throws {
    ///     guard let caller = Caller.current else { return }
    ///     caller.whenGone { [seats] in seats.free(caller.session) }
    /// }
    /// ```
    ///
    /// Callable from anywhere. The action is called on no particular thread and must not block. It is kept until then and
    /// cannot be taken back: ask once for each caller, not with each call. A proxy for the caller that was added to a
    /// multicast proxy leaves that by itself, without this.
    public func whenGone(_ action: @escaping @Sendable () -> Void) { link.whenGone(action) }
}

extension ServiceProxy {
    /// A proxy for an object that the caller has exported at its own end.
    public init(_ caller: Caller, named name: String? = nil) {
        self.init(
            subject: RemoteSubject(
                peer: caller.peer, service: Self.methodTable.service.name, object: name, owner: nil))
    }
}
