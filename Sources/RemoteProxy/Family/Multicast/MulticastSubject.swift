// One subject that stands for many: what is posted to it goes to each of them.

import RPCSockets
import RPCWire

final class MulticastSubject<Service: Sendable>: EndSubject {
    /// One of the many. A class, so that the size of a list of them does not depend on the service: finding out costs more
    /// than a post.
    final class Member: Sendable {
        enum Receiver: Sendable {
            /// An object that somebody else keeps.
            case object(WeakObject<Service>)
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
            if case .object(let object) = receiver { object.value == nil } else { false }
        }
    }

    /// A member and its place in the order. What is watched for is let go with it.
    struct Entry {
        let number: Int
        var member: Member?
        var watch: ClosingWatch?
    }

    /// In the order of their numbers, which is the order in which they were added. Those that have left by themselves leave
    /// empty entries behind until these are half of all: so however many leave at a time, each costs little.
    struct Members {
        var entries: [Entry] = []
        var lastNumber = 0
        var emptyEntries = 0

        mutating func append(_ member: Member) -> Int {
            lastNumber += 1
            entries.append(Entry(number: lastNumber, member: member))
            return lastNumber
        }

        func index(of number: Int) -> Int? {
            var range = entries.startIndex..<entries.endIndex
            while let first = range.first {
                let middle = first + range.count / 2
                if entries[middle].number == number { return middle }
                range = entries[middle].number < number ? middle + 1..<range.upperBound : first..<middle
            }
            return nil
        }

        /// Answers what has left, for the caller to let go of outside the lock.
        mutating func remove(_ number: Int) -> Entry? {
            guard let index = index(of: number), entries[index].member != nil else { return nil }
            let removed = entries[index]
            (entries[index].member, entries[index].watch) = (nil, nil)
            emptyEntries += 1
            if emptyEntries * 2 >= entries.count { removeAll { _ in false } }
            return removed
        }

        /// Answers what was there before, for the caller to let go of outside the lock.
        @discardableResult
        mutating func removeAll(where isRemoved: (Member) -> Bool) -> [Entry] {
            let before = entries
            entries = before.filter { $0.member.map { !isRemoved($0) } ?? false }
            emptyEntries = 0
            return before
        }
    }

    private let members = Lock(Members())

    init(_ members: [Member]) {
        for member in members { _ = add(member) }
    }

    // The watches keep the members, and the members the watches.
    deinit { withExtendedLifetime(members.withLock { $0.removeAll { _ in true } }) {} }

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
        var present: [Entry] = []
        members.withLock { present = $0.entries }
        for entry in present {
            switch entry.member?.receiver {
            case .value(let subject): subject.post(post, arguments, now: now)
            case .object(let object):
                if let object = object.value { now(object) } else { isAnyGone = true }
            case nil: continue
            }
        }
        if isAnyGone { remove(where: \.isGone) }
    }

    func supports(_ method: MethodSignature) async throws -> Bool { method.shape == .post }

    var count: Int { members.withLock { $0.entries.count { $0.member?.isGone == false } } }

    /// An object is a member once, however often it is added. A proxy for a caller whose session is over, or through a client
    /// that is closed, is none. Answers by what it is removed.
    func add(_ member: Member) -> MulticastMembership {
        // First of all: a new object may be where one was that is gone.
        if member.identity != nil { remove(where: \.isGone) }
        let (number, membership) = members.withLock { members -> (Int?, MulticastMembership) in
            if let identity = member.identity,
                let known = members.entries.lazy.compactMap(\.member).first(where: { $0.identity == identity })
            {
                return (nil, known.membership)
            }
            return (members.append(member), member.membership)
        }
        if let number, case .value(let subject) = member.receiver, let peer = subject.farPeer {
            removeWhenClosed(number, peer)
        }
        return membership
    }

    /// A member whose peer is closed can never be reached again.
    private func removeWhenClosed(_ number: Int, _ peer: Requester) {
        let watch = ClosingWatch(peer) { [members] in Self.remove(number, from: members) }
        guard let watch else { return Self.remove(number, from: members) }
        // If it has been removed meanwhile, the watch ends here.
        members.withLock { members in
            guard let index = members.index(of: number), members.entries[index].member != nil else { return }
            members.entries[index].watch = watch
        }
    }

    private static func remove(_ number: Int, from members: Lock<Members>) {
        withExtendedLifetime(members.withLock { $0.remove(number) }) {}
    }

    func remove(where isRemoved: (Member) -> Bool) {
        // What goes is let go outside the lock: its end may come back for it.
        withExtendedLifetime(members.withLock { $0.removeAll(where: isRemoved) }) {}
    }
}

extension Subject {
    /// The peer through which all calls of this stack go; nil where that is not known, or may be another later: behind a lazy
    /// or late-bound proxy, and among several.
    fileprivate var farPeer: Requester? {
        let layers = sequence(first: self as any Subject<Service>) { ($0 as? any WrappingSubject<Service>)?.next }
        // No stack is as deep as where it gives up, which is where one leads back to itself.
        for layer in layers.prefix(1_000) {
            if let remote = layer as? RemoteSubject<Service> { return remote.peer }
        }
        return nil
    }
}
