// The multicast proxy: one delegate that is many.

extension ServiceProxy {
    /// A proxy that delivers each post to all of its receivers, in the order in which they were added.
    ///
    /// ```swift
    /// screen.delegate = LoginDelegateProxy.multicast([coordinator, analytics])
    /// ```
    ///
    /// Instances of classes are held weakly, as delegates are: one that is gone is left out and forgotten. Proxies and
    /// other values are held, since nobody else may have them; so a `.weak(_:)` or a remote proxy can be a receiver too. A
    /// proxy for a ``Caller`` leaves when the caller's session is over, one for an object at the other end of an ``RPCClient``
    /// when the client is closed; but not from behind a lazy, late-bound, counted or failover proxy.
    /// Receivers that are here are called one after the other, on the actor of the caller; what one does harms no other.
    ///
    /// Calls throw `RPCError` with the code `.unimplemented`, `.notExecuted`: there would be as many results as
    /// receivers.
    public static func multicast(_ receivers: [ProxiedService]) -> Self {
        Self(subject: MulticastSubject(receivers.map(member)))
    }

    /// Adds a receiver to this multicast proxy. An instance of a class is one receiver however often it is added. A proxy for a
    /// caller whose session is over is not added.
    /// - Returns: by what it is removed. The only way for a receiver that is a proxy or another value.
    /// - Throws: `RPCError` with the code `.unimplemented` when this is not a multicast proxy.
    @discardableResult
    public func add(_ receiver: ProxiedService) throws -> MulticastMembership {
        try multicastSubject().add(Self.member(receiver))
    }

    /// Removes a receiver that is an instance of a class. Another is no receiver, so nothing happens.
    /// - Throws: `RPCError` with the code `.unimplemented` when this is not a multicast proxy.
    public func remove(_ receiver: ProxiedService) throws {
        let identity = ObjectIdentifier(receiver as AnyObject)
        try multicastSubject().remove { $0.identity == identity }
    }

    /// Removes the receiver that was added with this membership.
    /// - Throws: `RPCError` with the code `.unimplemented` when this is not a multicast proxy.
    public func remove(_ membership: MulticastMembership) throws {
        try multicastSubject().remove { $0.membership === membership }
    }

    /// How many receivers this multicast proxy has that are not gone; nil when it is not one.
    public var receiverCount: Int? { proxySubject.layer(MulticastSubject<ProxiedService>.self)?.count }

    private func multicastSubject() throws -> MulticastSubject<ProxiedService> {
        guard let subject = proxySubject.layer(MulticastSubject<ProxiedService>.self) else {
            throw RPCError(
                .unimplemented,
                "this \(Self.self) has one receiver, as far as can be seen from outside; one made by \(Self.self).multicast([]) "
                    + "can have more",
                outcome: .notExecuted
            ).thrownByProxy
        }
        return subject
    }

    private static func member(_ receiver: ProxiedService) -> MulticastSubject<ProxiedService>.Member {
        // A proxy is a class where its protocol asks for one, but still a value in all but name.
        // Asked of `Any`, which knows what is inside.
        if !(receiver is any ServiceProxy<ProxiedService>), type(of: receiver as Any) is AnyClass {
            let object = receiver as AnyObject
            return .init(receiver: .object(WeakObject(unseen: object)), identity: ObjectIdentifier(object))
        }
        return .init(receiver: .value(subject(of: receiver)), identity: nil)
    }
}

/// That a receiver belongs to a multicast proxy: by what it is removed.
public final class MulticastMembership: Sendable {}
