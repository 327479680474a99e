// An object of the other end that this end has been given. All proxies for it share one of these.

/// An object of the other end, known by its handle in one session. When the last proxy for it is gone, the other end is told that
/// it need not keep the object for this one.
final class RemoteReference: Sendable {
    let session: SessionObjects
    let handle: Int64
    /// Whether its end does not run this library, and is called as StreamJsonRpc is.
    let isForeign: Bool

    init(_ handle: Int64, in session: SessionObjects, isForeign: Bool) {
        (self.handle, self.session, self.isForeign) = (handle, session, isForeign)
    }

    deinit { session.forget(self) }

    /// For a hold: the session that its calls are bound to, or one that is over if the hold has ended.
    var sessionOfHold: SessionObjects { session.hasForgotten(self) ? .ofEndedHold : session }

    /// The name of the object in calls.
    var name: String { Self.name(handle) }

    static func name(_ handle: Int64) -> String { "#\(handle)" }
}
