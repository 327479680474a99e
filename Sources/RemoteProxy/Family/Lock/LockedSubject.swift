// A subject with a lock before it: one call at a time, in the order in which they came.

import RPCSockets
package import RPCWire

/// Calls and posts come in, each goes on when its turn has come. Which lock they take turns with depends on the holds of
/// the calling task.
struct LockedSubject<Service: Sendable>: WrappingSubject {
    let next: any Subject<Service>
    let lock: SubjectLock
    let readersTogether: Bool

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let lock = CallScope.lock(for: lock)
        let turn = try await lock.enter(readersTogether && method.signature.effect == .reads ? .reading : .changing)
        defer { lock.leave(turn) }
        return try await next.call(method, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        let whyNot = CallScope.lock(for: lock).post {
            next.post(post, arguments, now: now)
        } later: {
            let kept = post.kept(arguments)
            return { [next] in await kept(next) }
        }
        if let whyNot { DroppedPosts.add(post.signature, because: whyNot) }
    }

    func hold(for lease: Duration) async throws -> Hold {
        let outer = CallScope.lock(for: lock)
        let inner = try await outer.hold(for: lease)
        return Hold(LockRight(lock: outer, inside: inner)) { inner.close() }
    }
}

extension CallScope {
    /// The lock that the running task takes turns with: the innermost of its holds on this one, or the lock itself.
    fileprivate static func lock(for lock: SubjectLock) -> SubjectLock {
        guard let rights = current?.rights, !rights.isEmpty else { return lock }
        var innermost = lock
        // Each hold is inside one before it.
        for case let right as LockRight in rights where right.lock === innermost { innermost = right.inside }
        return innermost
    }
}

/// A hold on a lock. Calls under it take turns with the lock inside.
private struct LockRight: Right {
    let lock: SubjectLock
    let inside: SubjectLock

    var isHold: Bool { true }
}

extension ServiceProxy {
    /// The same, but with one call at a time on the subject: the others wait in the order in which they came, until
    /// their deadlines. Put it directly around what is not to be disturbed, inside guards.
    ///
    /// A call that runs out of time while it waits throws `.deadlineExceeded`, `.notExecuted`; a cancelled one throws
    /// `CancellationError` at once. A subject that calls itself through its own lock gets `.busy` instead of waiting for
    /// ever. A post is delivered at once when nobody is in the way, and else when its turn comes.
    public func locked(_ locking: Locking = .oneAtATime) -> Self {
        locked(locking, clock: EventLoop.shared)
    }

    package func locked(_ locking: Locking = .oneAtATime, clock: any Loop) -> Self {
        Self(
            subject: LockedSubject(
                next: proxySubject, lock: SubjectLock(locking, clock: clock),
                readersTogether: locking.readersTogether))
    }
}
