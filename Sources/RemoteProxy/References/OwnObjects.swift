// The objects of this end that have been given to another one by reference, and their handles.

import RPCSockets
import Synchronization

/// Gives handles to the objects of this end. A requester has one of these for all its sessions, since a message is written before it
/// is known in which session it will leave.
///
/// Keeps no object alive: a message keeps the objects that it names, and a session those that the other end has.
final class OwnObjects: Sendable {
    /// An instance, and the service as which it was given.
    fileprivate struct Key: Hashable {
        let instance: ObjectIdentifier
        let index: ObjectIdentifier
        /// Whether it was given without being kept.
        let isWeak: Bool
    }

    fileprivate struct Known {
        weak var object: ExportedObject?
    }

    fileprivate struct State {
        var lastHandle = 0
        var known: [Key: Known] = [:]
        /// With so many entries, those are taken out whose objects are gone.
        var mostKnown = 64
    }

    private let state = Lock(State())

    /// The object behind a proxy as another end knows it: an instance of a class or an actor always under the same handle, anything
    /// else under a new one each time.
    func object<Proxy: ServiceProxy>(of proxy: Proxy) -> ExportedObject {
        let subject = proxy.proxySubject
        let (identity, isWeak) = (subject.identity, subject.instance == nil)
        let index = ObjectIdentifier(Proxy._methodTable.index)
        let key = identity.map { Key(instance: $0, index: index, isWeak: isWeak) }
        let known = key.flatMap { key in state.withLock { $0.known[key]?.object } }
        // Where an instance was that is gone, another one may be by now.
        if let known, !isWeak || known.identity == identity { return known }
        // A counted object is there for as long as another end has it.
        let proxy = proxy.handle()
        // Released outside the lock: they may be the last references by then.
        var others: [ExportedObject] = []
        defer { withExtendedLifetime(others) {} }
        return state.withLock { state in
            // Another thread may have been faster.
            if let key, let object = state.known[key]?.object, object !== known { return object }
            state.lastHandle += 1
            let handle = state.lastHandle
            let object = Exported(proxy, named: RemoteReference.name(Int64(handle)), number: handle)
            if let key { others += state.note(object, key) }
            return object
        }
    }
}

extension OwnObjects.State {
    /// - Returns: the other objects that it has looked at.
    fileprivate mutating func note(_ object: ExportedObject, _ key: OwnObjects.Key) -> [ExportedObject] {
        var others: [ExportedObject] = []
        if known.count >= mostKnown {
            for (key, other) in known {
                if let object = other.object { others.append(object) } else { known[key] = nil }
            }
            mostKnown = max(64, 2 * known.count)
        }
        known[key] = OwnObjects.Known(object: object)
        return others
    }
}
