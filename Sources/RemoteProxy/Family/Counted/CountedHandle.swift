// A holder of a counted object at this end: a proxy that has it counted for as long as there is a copy of it.

/// One holder, from its making to its end.
final class CountedHandle<Service: Sendable>: Sendable {
    let counted: CountedObject<Service>

    init(_ counted: CountedObject<Service>) {
        self.counted = counted
        counted.join()
    }

    deinit { counted.leave() }
}

extension ServiceProxy {
    /// A holder of the object that is `.counted` in this proxy: the same proxy, which keeps the object for as long as
    /// there is a copy of it. The object is made now if it is not there. A proxy that counts nothing gives itself; so
    /// does one that counts inside `failover`, or inside an object that has not been made or bound yet.
    public func handle() -> Self {
        guard let layer = proxySubject.layer(CountedSubject<ProxiedService>.self) else { return self }
        return Self(subject: HandleSubject(next: proxySubject, handle: CountedHandle(layer.counted)))
    }
}
