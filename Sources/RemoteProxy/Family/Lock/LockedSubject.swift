// The locked proxy: one call at a time in the order of arrival, or several calls for one caller that holds the subject.

import RPCSockets
package import RPCWire

/// Passes each call and post on when its turn comes. The holds of the calling task decide which lock it takes its turn at.
struct LockedSubject<Service: Sendable>: WrappingSubject, HoldableSubject {
    let next: any Subject<Service>
    let lock: SubjectLock
    let readersTogether: Bool

    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        let lock = CallScope.lock(for: lock)
        let turn = try await lock.enter(readersTogether && method.signature.effect == .readOnly ? .reading : .changing)
        defer { lock.leave(turn) }
        return try await next.call(method, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        let deliver = { next.post(post, arguments, now: now) }
        let whyNot = withoutActuallyEscaping(deliver) { deliver in
            // An `async` post runs after this function has returned, so it takes its turn in a task.
            CallScope.lock(for: lock).post(now: post.isAsync ? nil : deliver) {
                () throws(NotKept) in
                let post = try KeptPost(post, arguments, through: { [next] in next })
                return { await post.deliver() }
            }
        }
        if let whyNot { DroppedPosts.add(post.signature.wireName, because: whyNot) }
    }

    func takeHold(for lease: Duration) async throws -> Hold {
        let outer = CallScope.lock(for: lock)
        let inner = try await outer.hold(for: lease)
        return Hold(LockRight(lock: outer, inside: inner)) { inner.close() }
    }
}

extension CallScope {
    /// The lock at which the running task takes its turns: its innermost hold on this lock, or the lock itself.
    fileprivate static func lock(for lock: SubjectLock) -> SubjectLock {
        guard let rights = current?.rights, !rights.isEmpty else { return lock }
        var innermost = lock
        for case let right as LockRight in rights where right.lock === innermost { innermost = right.inside }
        return innermost
    }
}

/// A hold on a lock. Calls under it take turns at the lock inside.
private struct LockRight: Right {
    let lock: SubjectLock
    let inside: SubjectLock

    var isHold: Bool { true }
}

/// Sets how `.locked` lets calls in, and how long they may wait.
public struct LockPolicy: Sendable {
    /// Whether methods marked `@ReadOnly` run together. Every other call runs alone.
    public var readersTogether = false
    /// How many calls run together. 1. A call to the object while it is held waits for the end of the hold all the same.
    public var places = 1
    /// How long a call waits for its turn when it has no deadline of its own. 30 s.
    public var timeout: Duration = .seconds(30)
    /// The longest lease of a hold. 10 minutes.
    public var maximumLease: Duration = .seconds(600)
    /// How many posts are kept while the subject is in use. Further ones are dropped. 10,000.
    public var maximumKeptPosts = 10_000

    /// The defaults: one call at a time.
    public init() {}

    /// One call at a time.
    public static var oneAtATime: LockPolicy { LockPolicy() }

    /// So many calls at a time, in the order in which they came: a limit on the calls of all callers to one object. Calls of
    /// `exclusively` run one at a time.
    public static func atMost(_ places: Int) -> LockPolicy {
        var locking = LockPolicy()
        locking.places = max(1, places)
        return locking
    }

    /// One call at a time, except that methods marked `@ReadOnly` run together.
    public static var readersTogether: LockPolicy {
        var locking = LockPolicy()
        locking.readersTogether = true
        return locking
    }
}

extension ServiceProxy {
    /// Makes a proxy that lets one call at a time through to the subject, or so many as `locking` says. Others wait in order of
    /// arrival, until their deadlines. Put it directly around the object to protect, inside guards.
    ///
    /// A call that runs out of time while it waits throws `.deadlineExceeded`, `.notExecuted`. A cancelled one throws
    /// `CancellationError` at once. A subject that calls itself through its own lock gets `.busy`, since it would wait
    /// for ever. A post is delivered at once if nothing is in the way, and otherwise when its turn comes.
    /// An `async` post returns before its turn.
    public func locked(_ locking: LockPolicy = .oneAtATime) -> Self {
        locked(locking, clock: EventLoop.shared)
    }

    package func locked(_ locking: LockPolicy = .oneAtATime, clock: any Loop) -> Self {
        Self(
            subject: LockedSubject(
                next: proxySubject, lock: SubjectLock(locking, clock: clock),
                readersTogether: locking.readersTogether))
    }

    /// Holds the subject while the body runs. Calls that the body makes through this proxy run; all others wait within their
    /// deadlines. Works with every proxy that has `.locked()` among its layers, in this process or at the other end.
    ///
    /// ```swift
    /// try await ledger.exclusively(lease: .seconds(10)) {
    ///     let balance = try await ledger.balance()
    ///     try await ledger.set(balance + 1)
    /// }
    /// ```
    ///
    /// The hold ends with the body, with the session that asked for it, or with its lease, whichever is first. Later calls
    /// under it throw `.holdEnded`, `.notExecuted`. A call that is running continues, and the next in line has the
    /// subject after it. Child tasks of the body share the hold, and take turns. A post that the body makes to a proxy which
    /// delivers later, such as a lazy one, is not under the hold, which may be over by then: calls that it makes wait in line.
    ///
    /// - Parameter lease: how long other calls may be kept waiting at most.
    /// - Throws: what the body throws; `RPCError` if the task's deadline came first or the subject cannot be held;
    ///   `CancellationError` soon after the calling task is cancelled while it waits.
    public func exclusively<Result>(
        lease: Duration = .seconds(30), _ body: () async throws -> Result
    ) async throws -> Result {
        let hold: Hold
        do { hold = try await proxySubject.hold(for: lease) } catch { throw error.thrownByProxy }
        defer { hold.release() }
        return try await hold.entered(body)
    }
}
