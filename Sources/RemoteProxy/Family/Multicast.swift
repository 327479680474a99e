// The multicast proxy: one delegate that stands for many.

import RPCSockets
import RPCWire

extension ServiceProxy {
    /// Makes a proxy that delivers each post to all of its receivers, in the order in which they were added.
    ///
    /// ```swift
    /// screen.delegate = LoginDelegateProxy.multicast([coordinator, analytics])
    /// ```
    ///
    /// Instances of classes are held weakly, as delegates are; one that is gone is removed. Proxies and other values are
    /// held strongly, since the multicast may be their only owner. So a `.weak(_:)` or a remote proxy can be a receiver.
    ///
    /// A proxy for a ``Caller`` is removed when the caller's session is over. A proxy for an object at the other end of an
    /// ``RPCClient`` is removed when the client is closed. Neither is noticed behind a lazy, late-bound, counted or
    /// failover proxy. Receivers in this process are called one after the other, on the caller's actor; no receiver's
    /// failure affects another.
    ///
    /// Calls throw `RPCError` with the code `.unimplemented`, `.notExecuted`: each receiver would have a result of its
    /// own.
    public static func multicast(_ receivers: [ProxiedService]) -> Self {
        Self(subject: MulticastSubject(receivers.map(member)))
    }

    /// Adds a receiver to this multicast proxy. An instance of a class is one receiver, however often it is added. A proxy for
    /// a caller whose session is over is not added.
    /// - Returns: the membership for `remove`. A receiver that is a proxy or another value can only be removed with it.
    /// - Throws: `RPCError` with the code `.unimplemented` if this is not a multicast proxy.
    @discardableResult
    public func add(_ receiver: ProxiedService) throws -> MulticastMembership {
        try multicastSubject().add(Self.member(receiver))
    }

    /// Removes a receiver that is an instance of a class. Does nothing for any other.
    /// - Throws: `RPCError` with the code `.unimplemented` if this is not a multicast proxy.
    public func remove(_ receiver: ProxiedService) throws {
        let identity = ObjectIdentifier(receiver as AnyObject)
        try multicastSubject().remove { $0.identity == identity }
    }

    /// Removes the receiver that was added with this membership.
    /// - Throws: `RPCError` with the code `.unimplemented` if this is not a multicast proxy.
    public func remove(_ membership: MulticastMembership) throws {
        try multicastSubject().remove { $0.membership === membership }
    }

    /// How many receivers this multicast proxy has, without those that are gone; nil if it is not a multicast proxy.
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
        // A proxy may be an instance of a class, if its protocol requires one, but counts as a value.
        // `type(of:)` gets an `Any`, so that it returns the type of the value inside.
        if !(receiver is any ServiceProxy<ProxiedService>), type(of: receiver as Any) is AnyClass {
            let object = receiver as AnyObject
            return .init(receiver: .object(WeakObject(unseen: object)), identity: ObjectIdentifier(object))
        }
        return .init(receiver: .value(subject(of: receiver)), identity: nil)
    }
}

/// Identifies a receiver of a multicast proxy, for `remove`.
public final class MulticastMembership: Sendable {}

/// A subject that delivers each post to all of its members.
final class MulticastSubject<Service: Sendable>: EndSubject, SelectiveSubject {
    /// A receiver. It is a class, so that the size of a list of members does not depend on the service. Finding that size
    /// costs more than a post.
    final class Member: Sendable {
        enum Receiver: Sendable {
            /// An object that the multicast holds weakly.
            case object(WeakObject<Service>)
            /// A proxy or another value, which the multicast holds strongly.
            case value(any Subject<Service>)
        }

        let receiver: Receiver
        /// Identifies the object; nil for a value.
        let identity: ObjectIdentifier?
        let membership = MulticastMembership()

        init(receiver: Receiver, identity: ObjectIdentifier?) {
            self.receiver = receiver
            self.identity = identity
        }

        var isGone: Bool {
            if case .object(let object) = receiver { object.value == nil } else { false }
        }
    }

    private struct Members {
        /// The members by their numbers, which count up. A `watch` has to be kept to learn that the member's end is closed.
        var entries: [Int: (member: Member, watch: (any AnyObject & Sendable)?)] = [:] {
            didSet { ordered = nil }
        }
        var lastNumber = 0
        /// All members in the order in which they were added; nil after a change.
        private var ordered: [Member]?

        mutating func inOrder() -> [Member] {
            if let ordered { return ordered }
            let members = entries.sorted { $0.key < $1.key }.map(\.value.member)
            ordered = members
            return members
        }
    }

    private let members = Lock(Members())

    init(_ members: [Member]) {
        for member in members { _ = add(member) }
    }

    // The watches retain the members, and the members the watches.
    deinit { remove { _ in true } }

    /// Throws: a call can have one result only.
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        throw RPCError(
            .unimplemented,
            "\(method.signature.wireName) has a reply, and a multicast proxy has many receivers but could return only one; "
                + "call one of them, or make the method a post",
            outcome: .notExecuted)
    }

    /// Posts to the members of this moment. Members added or removed meanwhile make no difference.
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        var isAnyGone = false
        var present: [Member] = []
        members.withLock { present = $0.inOrder() }
        for member in present {
            switch member.receiver {
            case .value(let subject): subject.post(post, arguments, now: now)
            case .object(let object):
                if let object = object.value { now(object) } else { isAnyGone = true }
            }
        }
        if isAnyGone { remove(where: \.isGone) }
    }

    func has(_ method: MethodSignature) async throws -> Bool { method.shape == .post }

    var count: Int { members.withLock { $0.entries.values.count { !$0.member.isGone } } }

    /// Adds a member, an object only once. A proxy is not added if its caller's session is over, or its client is closed.
    /// - Returns: the membership for removing it.
    func add(_ member: Member) -> MulticastMembership {
        // Comes first: a new object may have the address of one that is gone.
        if member.identity != nil { remove(where: \.isGone) }
        let (number, known) = members.withLock { members -> (Int, Member?) in
            if let identity = member.identity,
                let known = members.entries.values.first(where: { $0.member.identity == identity })
            {
                return (0, known.member)
            }
            members.lastNumber += 1
            members.entries[members.lastNumber] = (member, nil)
            return (members.lastNumber, nil)
        }
        if let known { return known.membership }
        if case .value(let subject) = member.receiver, let end = subject.onlyRemoteEnd { watch(end, of: number) }
        return member.membership
    }

    /// Removes a member when its end is closed, because it can never be reached again.
    private func watch(_ end: RemoteEnd, of number: Int) {
        let watch = end.whenClosed { [members] in Self.remove(number, from: members) }
        guard let watch else { return Self.remove(number, from: members) }
        // If the member has been removed meanwhile, the watch ends here.
        members.withLock { $0.entries[number]?.watch = watch }
    }

    private static func remove(_ number: Int, from members: Lock<Members>) {
        withExtendedLifetime(members.withLock { $0.entries.removeValue(forKey: number) }) {}
    }

    func remove(where isRemoved: (Member) -> Bool) {
        // Members are released outside the lock: their deinitialisers may call this subject.
        let before = members.withLock { members in
            defer { members.entries = members.entries.filter { !isRemoved($0.value.member) } }
            return members.entries
        }
        withExtendedLifetime(before) {}
    }
}
