// The locked proxy: one call at a time, in the order in which they came, or several for one caller.

import RPCSockets
package import RPCWire

/// Calls and posts come in, each goes on when its turn has come. Which lock they take turns with depends on the holds of
/// the calling task.
struct LockedSubject<Service: Sendable>: WrappingSubject, HoldableSubject {
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
            let post = kept(post, arguments)
            return { [next] in await post(next) }
        }
        if let whyNot { DroppedPosts.add(post.signature, because: whyNot) }
    }

    func takeHold(for lease: Duration) async throws -> Hold {
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

/// How `.locked` lets calls in, and what waiting for a turn may cost.
public struct Locking: Sendable {
    /// Methods marked `@ReadOnly` run side by side with each other; every other call runs alone.
    public var readersTogether = false
    /// How long a call waits for its turn when it has no deadline of its own. 30 s.
    public var timeout: Duration = .seconds(30)
    /// The longest lease of a hold. 10 minutes.
    public var maximumLease: Duration = .seconds(600)
    /// How many posts are kept while others have the subject; further ones are not delivered. 10,000.
    public var maximumKeptPosts = 10_000

    /// The defaults: one call at a time.
    public init() {}

    /// One call at a time.
    public static var oneAtATime: Locking { Locking() }

    /// One call at a time, but those of methods marked `@ReadOnly` together.
    public static var readersTogether: Locking {
        var locking = Locking()
        locking.readersTogether = true
        return locking
    }
}

extension ServiceProxy {
    /// The same, but with one call at a time on the subject: the others wait in the order in which they came, until
    /// their deadlines. Put it directly around what is not to be disturbed, inside guards.
    ///
    /// A call that runs out of time while it waits throws `.deadlineExceeded`, `.notExecuted`; a cancelled one throws
    /// `CancellationError` at once. A subject that calls itself through its own lock gets `.busy` instead of waiting for
    /// ever. A post is delivered at once when nothing is in the way, and else when its turn comes.
    public func locked(_ locking: Locking = .oneAtATime) -> Self {
        locked(locking, clock: EventLoop.shared)
    }

    package func locked(_ locking: Locking = .oneAtATime, clock: any Loop) -> Self {
        Self(
            subject: LockedSubject(
                next: proxySubject, lock: SubjectLock(locking, clock: clock),
                readersTogether: locking.readersTogether))
    }

    /// Holds the subject while the body runs: calls that the body makes through this proxy go ahead, all others wait
    /// within their deadlines. Works with every proxy that has `.locked()` in its stack, here or at the other end.
    ///
    /// ```swift
    /// try await ledger.exclusively(lease: .seconds(10)) {
    ///     let balance = try await ledger.balance()
    ///     try await ledger.set(balance + 1)
    /// }
    /// ```
    ///
    /// The hold ends with the body, with the session over which it was asked for, or with its lease, whichever comes
    /// first. Calls made under it then throw `.holdEnded`, `.notExecuted`; one that is running runs on, and the next in
    /// line has the subject after it. Child tasks of the body hold too, and take turns among themselves.
    ///
    /// - Parameter lease: how long others may be kept waiting at most.
    /// - Throws: what the body throws; `RPCError` when the subject was not to be had within the deadline of the calling
    ///   task, or cannot be held at all; `CancellationError` soon after the calling task is cancelled while it waits.
    public func exclusively<Result>(
        lease: Duration = .seconds(30), _ body: () async throws -> Result
    ) async throws -> Result {
        let hold: Hold
        do { hold = try await proxySubject.hold(for: lease) } catch { throw error.thrownByProxy }
        defer { hold.release() }
        return try await hold.entered(body)
    }
}
