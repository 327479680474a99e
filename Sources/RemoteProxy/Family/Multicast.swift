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
    /// Calls throw `RPCError` with the code `.noSuchMethod`, `.notExecuted`: each receiver would have a result of its
    /// own. ``Multicast`` has receivers that are added later.
    public static func multicast(_ receivers: [ProxiedService]) -> Self { Multicast<Self>(receivers).proxy }

    fileprivate static func member(_ receiver: ProxiedService) -> MulticastSubject<ProxiedService>.Member {
        // A proxy may be an instance of a class, if its protocol requires one, but counts as a value.
        // `type(of:)` gets an `Any`, so that it returns the type of the value inside.
        if !(receiver is any ServiceProxy<ProxiedService>), type(of: receiver as Any) is AnyClass,
            let weak = _methodTable.weakSubject(receiver) as? _WeakSubject<ProxiedService>
        {
            return .init(weak, object: weak.object, identity: .object(ObjectIdentifier(receiver as AnyObject)))
        }
        let subject = subject(of: receiver)
        let end = subject is any WrappingSubject<ProxiedService> ? nil : subject.onlyRemoteEnd
        return .init(subject, identity: end.map { .remote($0.object) })
    }
}

/// A multicast proxy whose receivers come and go.
///
/// ```swift
/// let views = Multicast<FeedViewProxy>()
/// let registration = views.add(view)
/// views.proxy.show("news")
/// registration.cancel()
/// ```
///
/// Instances of classes are held weakly, proxies and other values strongly. A proxy for a caller leaves with its session, as
/// ``ServiceProxy/multicast(_:)`` says. All members may be used from any thread. Copies have the same receivers.
public struct Multicast<Proxy: ServiceProxy>: Sendable, CustomReflectable {
    private let subject: MulticastSubject<Proxy.ProxiedService>

    /// One without receivers.
    public init() { self.init([]) }

    init(_ receivers: [Proxy.ProxiedService]) { subject = MulticastSubject(receivers.map(Proxy.member)) }

    /// Shows the number of receivers.
    public var customMirror: Mirror { Mirror(self, children: ["count": count]) }

    /// Delivers each post to the receivers of that moment.
    public var proxy: Proxy { Proxy(subject: subject) }

    /// Adds a receiver. An instance of a class is one receiver, however often it is added. So is a proxy for an object at
    /// another end, without further subjects around it: `ViewProxy(caller)`. A proxy for a caller whose session is over is not
    /// added.
    /// - Returns: removes the receiver, however often it was added.
    @discardableResult
    public func add(_ receiver: Proxy.ProxiedService) -> Registration { subject.add(Proxy.member(receiver)) }

    /// How many receivers there are, without those that are gone.
    public var count: Int { subject.count }
}

/// A subject that delivers each post to all of its members.
final class MulticastSubject<Service: Sendable>: EndSubject, SelectiveSubject {
    /// A receiver. It is a class, so that the size of a list of members does not depend on the service. Finding that size
    /// costs more than a post.
    final class Member: Sendable {
        /// What two receivers have in common that are one and the same.
        enum Identity: Sendable, Hashable {
            case object(ObjectIdentifier)
            case remote(RemoteObject)
        }

        let subject: any Subject<Service>
        /// The object of the subject, if the multicast holds it weakly.
        let object: WeakObject<Service>?
        /// Nil for a value that cannot be told from others.
        let identity: Identity?

        init(_ subject: any Subject<Service>, object: WeakObject<Service>? = nil, identity: Identity?) {
            (self.subject, self.object, self.identity) = (subject, object, identity)
        }

        var isGone: Bool { object?.isGone ?? false }
    }

    private struct Members {
        /// The members by their numbers, which count up. A watch takes out the member whose end is closed.
        var entries: [Int: (member: Member, watch: Registration?)] = [:]
        private var numbers: [Member.Identity: Int] = [:]
        private var lastNumber = 0
        /// All members in the order in which they were added; nil after a change.
        private var ordered: [Member]?

        mutating func inOrder() -> [Member] {
            if let ordered { return ordered }
            let members = entries.sorted { $0.key < $1.key }.map(\.value.member)
            ordered = members
            return members
        }

        /// - Returns: the number of the member, or of the one that it is the same as.
        mutating func add(_ member: Member) -> (number: Int, isNew: Bool) {
            if let known = member.identity.flatMap({ numbers[$0] }) { return (known, false) }
            lastNumber += 1
            entries[lastNumber] = (member, nil)
            if let identity = member.identity { numbers[identity] = lastNumber }
            ordered = nil
            return (lastNumber, true)
        }

        mutating func remove(_ number: Int) -> (member: Member, watch: Registration?)? {
            guard let entry = entries.removeValue(forKey: number) else { return nil }
            if let identity = entry.member.identity { numbers[identity] = nil }
            ordered = nil
            return entry
        }
    }

    private let members = Lock(Members())

    init(_ members: [Member]) {
        for member in members { add(member) }
    }

    // The watches retain the members, and the members the watches.
    deinit { remove { _ in true } }

    /// Throws: a call can have one result only.
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        throw RPCError(
            .noSuchMethod,
            "\(method.signature.wireName) has a reply, and a multicast proxy has many receivers but could return only one; "
                + "call one of them, or make the method a post",
            outcome: .notExecuted)
    }

    /// Posts to the members of this moment. Members added or removed meanwhile make no difference.
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        var isAnyGone = false
        for member in members.withLock({ $0.inOrder() }) {
            if let object = member.object {
                do { now(try object.value()) } catch { isAnyGone = true }
            } else {
                member.subject.post(post, arguments, now: now)
            }
        }
        if isAnyGone { remove(where: \.isGone) }
    }

    func has(_ method: MethodSignature) async throws -> Bool { method.shape == .post }

    var count: Int { members.withLock { $0.entries.values.count { !$0.member.isGone } } }

    /// Adds a member, unless it is there already, its caller's session is over, or its client is closed.
    /// - Returns: removes the member.
    @discardableResult
    func add(_ member: Member) -> Registration {
        // Comes first: a new object may have the address of one that is gone.
        if member.object != nil { remove(where: \.isGone) }
        let (number, isNew) = members.withLock { $0.add(member) }
        if isNew, let end = member.subject.onlyRemoteEnd {
            watch(end, of: number)
        }
        return Registration { [members] in Self.remove([number], from: members) }
    }

    /// Removes a member when its end is closed, because it can never be reached again.
    private func watch(_ end: RemoteEnd, of number: Int) {
        let watch = end.whenClosed { [members] in Self.remove([number], from: members) }
        guard let watch else { return Self.remove([number], from: members) }
        // The member may have been removed meanwhile.
        let isKept = members.withLock { members in
            members.entries[number]?.watch = watch
            return members.entries[number] != nil
        }
        if !isKept { watch.cancel() }
    }

    func remove(where isRemoved: (Member) -> Bool) {
        let entries = members.withLock { $0.entries }
        Self.remove(entries.filter { isRemoved($0.value.member) }.map(\.key), from: members)
    }

    private static func remove(_ numbers: [Int], from members: Lock<Members>) {
        // Members are released outside the lock: their deinitialisers may call this subject.
        let removed = members.withLock { members in numbers.compactMap { members.remove($0) } }
        withExtendedLifetime(removed) { for entry in removed { entry.watch?.cancel() } }
    }
}
