// One subject that stands for many: what is posted to it goes to each of them.

import RPCWire

final class MulticastSubject<Service: Sendable>: EndSubject {
    /// One of the many. A class, so that the size of a list of them does not depend on the service: finding out costs more
    /// than a post.
    final class Member: Sendable {
        enum Receiver: Sendable {
            /// An object that somebody else keeps.
            case object(WeakValue<Service>)
            /// A proxy or another value, which only the multicast may have.
            case value(any Subject<Service>)
        }

        let receiver: Receiver
        /// Which object it is; nil for a value.
        let identity: ObjectIdentifier?
        let membership = MulticastMembership()

        init(receiver: Receiver, identity: ObjectIdentifier?) {
            self.receiver = receiver
            self.identity = identity
        }

        var isGone: Bool {
            if case .object(let object) = receiver { object.isGone } else { false }
        }
    }

    private let members: Lock<[Member]>

    init(_ members: [Member]) {
        self.members = Lock([])
        for member in members { _ = add(member) }
    }

    /// Nobody could say whose result it should be.
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        throw RPCError(
            .unimplemented,
            "\(method.signature.wireName) has a reply, and a multicast proxy has many receivers but could return only one; "
                + "call one of them, or make the method a post",
            outcome: .notExecuted)
    }

    /// To those who are members now; one that comes or goes while this runs changes nothing.
    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        var isAnyGone = false
        var present: [Member] = []
        members.withLock { present = $0 }
        for member in present {
            switch member.receiver {
            case .value(let subject): subject.post(post, arguments, now: now)
            case .object(let object):
                do { now(try object.value()) } catch { isAnyGone = true }
            }
        }
        if isAnyGone { remove(where: \.isGone) }
    }

    func supports(_ method: MethodSignature) async throws -> Bool { method.shape == .post }

    var count: Int { members.withLock { $0.filter { !$0.isGone }.count } }

    /// An object is a member once, however often it is added. Answers by what it is removed.
    func add(_ member: Member) -> MulticastMembership {
        // First of all: a new object may be where one was that is gone.
        remove(where: \.isGone)
        return members.withLock { members in
            if let identity = member.identity, let known = members.first(where: { $0.identity == identity }) {
                return known.membership
            }
            members.append(member)
            return member.membership
        }
    }

    func remove(where isRemoved: (Member) -> Bool) {
        // What goes is let go outside the lock: its end may come back for it.
        var before: [Member] = []
        members.withLock { members in
            before = members
            members = members.filter { !isRemoved($0) }
        }
        withExtendedLifetime(before) {}
    }
}
