// The objects of this end that have been given to another one by reference, and their handles.

import RPCSockets

/// Gives handles to the objects of this end. A requester has one of these for all its sessions, since a message is written before it
/// is known in which session it will leave.
///
/// Keeps no object alive: a message keeps the objects that it names, and a session those that the other end has.
struct OwnObjects: Sendable {
    /// The instances that were given as one service, in one way.
    fileprivate struct Instances {
        var known: [ObjectIdentifier: Known] = [:]
        /// With so many entries, those are taken out whose objects are gone.
        var mostKnown = 64
    }

    /// A service, and whether its instances were given without being kept.
    fileprivate struct Kind: Equatable {
        let index: ObjectIdentifier
        let isWeak: Bool
    }

    fileprivate struct Known {
        weak var object: ExportedObject?
    }

    fileprivate struct State {
        var lastHandle = 0
        /// A program has few services, so they are looked through.
        var instances: [(kind: Kind, instances: Instances)] = []
    }

    private let state = Lock(State())

    /// An object without a proxy as another end knows it: an instance of a class or an actor always under the same handle, anything
    /// else under a new one each time.
    func object<Service: Sendable>(of object: Service, _ index: ServiceIndex) -> ExportedObject {
        self.object(of: LocalSubject.instance(object), isWeak: false, index) { Exported(object, index, number: $0) }
    }

    /// The same for the object behind a proxy.
    func object<Proxy: ServiceProxy>(of proxy: Proxy) -> ExportedObject {
        let (subject, index) = (proxy.proxySubject, Proxy._methodTable.index)
        // A counted object is there for as long as another end has it.
        return object(of: subject.identity, isWeak: subject.instance == nil, index) { [proxy = proxy.handle()] in
            Exported.object(proxy, named: nil, number: $0)
        }
    }

    private func object(
        of identity: ObjectIdentifier?, isWeak: Bool, _ index: ServiceIndex, _ make: (_ handle: Int) -> ExportedObject
    ) -> ExportedObject {
        // Released outside the lock: they may be the last references by then.
        var others: [ExportedObject] = []
        defer { withExtendedLifetime(others) {} }
        // Where an instance was that was given weakly and is gone, another one may be by now.
        var former: ExportedObject?
        while true {
            let (object, isNew) = state.withLock { state -> (ExportedObject, Bool) in
                guard let identity else { return (make(state.nextHandle()), true) }
                let place = state.place(of: Kind(index: ObjectIdentifier(index), isWeak: isWeak))
                if let known = state.instances[place].instances.known[identity]?.object, known !== former {
                    return (known, false)
                }
                let object = make(state.nextHandle())
                others = state.instances[place].instances.note(object, identity)
                return (object, true)
            }
            // Asked outside the lock, since that may release the instance.
            if isNew || !isWeak || object.identity == identity { return object }
            former = object
        }
    }
}

extension OwnObjects.State {
    fileprivate mutating func nextHandle() -> Int {
        lastHandle += 1
        return lastHandle
    }

    fileprivate mutating func place(of kind: OwnObjects.Kind) -> Int {
        if let known = instances.firstIndex(where: { $0.kind == kind }) { return known }
        instances.append((kind, OwnObjects.Instances()))
        return instances.count - 1
    }
}

extension OwnObjects.Instances {
    /// - Returns: the other objects that it has looked at.
    fileprivate mutating func note(_ object: ExportedObject, _ instance: ObjectIdentifier) -> [ExportedObject] {
        var others: [ExportedObject] = []
        if known.count >= mostKnown {
            var gone: [ObjectIdentifier] = []
            // Not by `for (instance, other) in known`, which would copy each weak reference.
            for place in known.indices {
                if let object = known.values[place].object {
                    others.append(object)
                } else {
                    gone.append(known.keys[place])
                }
            }
            for instance in gone { known[instance] = nil }
            mostKnown = max(64, 2 * known.count)
        }
        known[instance] = OwnObjects.Known(object: object)
        return others
    }
}
