// Who is calling, as a subject sees it.

/// The other end of the connection over which the running call came.
public struct Caller: Sendable {
    /// One for all calls of a connection: every request carries it along.
    private final class End: Sendable {
        let address: String
        let peer: Peer

        init(address: String, peer: Peer) {
            self.address = address
            self.peer = peer
        }
    }

    private let end: End

    init(address: String, peer: Peer) { end = End(address: address, peer: peer) }

    /// Where it calls from: `tcp://127.0.0.1:51234`, or `unix:///run/app.sock`.
    public var address: String { end.address }
    /// Names the conversation; the same for all its calls. Not guessable.
    public var session: String { peer.session }
    var peer: Peer { end.peer }

    /// The caller of the call being served by this task; nil outside one.
    public static var current: Caller? { CallScope.current?.caller }
}

extension ServiceProxy {
    /// A proxy for an object that the caller has exported at its own end.
    public init(_ caller: Caller, named name: String? = nil) {
        self.init(subject: RemoteSubject(peer: caller.peer, object: name, owner: nil))
    }
}
