// Keeps the object of a counted proxy: for a program's handle, and for an object that another end has by reference.

/// A subject whose object may be there only while it is used.
protocol CountedSubject<Service>: Subject {
    /// Uses the object until what is returned is gone. Nil for a subject that does not count its users.
    func use() -> (any AnyObject & Sendable)?
}

extension ServiceProxy {
    /// Returns a holder of the object of this `.counted` proxy: the same proxy, which keeps the object until its last copy is
    /// gone. The object is made now if it does not exist. A proxy that is not counted returns itself. So does one that is
    /// counted inside `failover`, or inside an object that has not been made or bound yet.
    public func handle() -> Self {
        if proxySubject is LocalSubject<ProxiedService> { return self }
        for case let counted as any CountedSubject<ProxiedService> in proxySubject.layers {
            guard let use = counted.use() else { continue }
            guard var held = proxySubject as? HeldSubject<ProxiedService> else {
                return Self(subject: HandleSubject(next: proxySubject, use: use))
            }
            // A hold stays outermost, where the next one finds it.
            held.next = HandleSubject(next: held.next, use: use)
            return Self(subject: held)
        }
        return self
    }
}

private struct HandleSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    /// Never read: as long as it is there, so is the object.
    let use: any AnyObject & Sendable
}
