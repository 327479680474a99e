// What a call inherits from the call in which it is made: the deadline, the caller, the metadata, the rights of the task,
// the failover attempt, and the request that is served. All of it is one task-local, since every request pays for setting one.

import RPCSockets
package import RPCWire

/// What the running task serves, and what its calls inherit.
package struct CallScope: Sendable {
    package var deadline: Instant?
    package var caller: Caller?
    /// What travels with the calls of the task.
    var metadata: CallMetadata?
    /// The rights of the task. Of several rights to one object, each lies inside the one before it.
    var rights: [any Right] = []
    /// What becomes of calls to one end when it cannot be reached; calls to other ends wait as usual. A failover sets it around its
    /// attempt at that end.
    var attempt: (requester: ObjectIdentifier, persistence: Persistence)?
    /// The request that the task serves, if others must know it again. Never shared between two requests.
    var served: ServedRequest?
    /// The worker that serves the request. It may have gone on to another request since.
    var worker: Worker?

    package init(deadline: Instant? = nil, caller: Caller? = nil, metadata: CallMetadata? = nil) {
        self.deadline = deadline
        self.caller = caller
        self.metadata = metadata
    }

    /// The scope for work that is done later. It lacks the deadline and the holds, since these end.
    var later: CallScope {
        var scope = CallScope(caller: caller, metadata: metadata)
        scope.rights = rights.filter { !$0.isHold }
        scope.attempt = attempt
        return scope
    }

    /// The same scope with this deadline, unless its own is earlier.
    func limited(to deadline: Instant) -> CallScope {
        var scope = self
        scope.deadline = min(self.deadline ?? deadline, deadline)
        return scope
    }

    /// Whether the task holds an object exclusively, in this process or at another end.
    var hasHold: Bool { rights.contains(where: \.isHold) }
}

extension CallScope {
    /// The scope of the running task. Nil in a task that serves no call and has no time limit, metadata, right or failover
    /// attempt. It is never changed in place: a task that outlives the call in which it began keeps the scope of that call.
    @TaskLocal package static var current: CallScope?

    /// Runs the body in another scope, or in none, on the actor of the caller.
    @inline(__always)
    package static func with<Result>(
        _ scope: CallScope?, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(
            scope,
            operation: {
                // Captured, so that the closure stays on the actor. Otherwise it would leave the actor and come back for the
                // result.
                _ = isolation
                return try await body()
            }, isolation: isolation)
    }

    /// Does the same with a body that is not async.
    package static func with<Result>(_ scope: CallScope?, _ body: () throws -> Result) rethrows -> Result {
        try $current.withValue(scope, operation: body)
    }

    /// Runs the body in this scope, on the actor of the caller.
    @inline(__always)
    func entered<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        try await Self.with(self, isolation: isolation, body)
    }
}

extension CallScope {
    /// Runs the body in this scope, on the actor of the caller, and throws what it throws.
    func enteredByUser<Result, Failure>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        // The functions of the standard library do not hand typed errors on.
        let end = await entered(isolation: isolation) { () async -> Swift.Result<Result, Failure> in
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try end.get()
    }
}

/// The running task.
enum RunningTask {
    /// Tells tasks apart while they live; 0 outside of a task. One word and not the task's hash, which takes longer to find than a
    /// lock.
    static var address: Int {
        withUnsafeCurrentTask { task in
            // A task is one pointer, which is 0 for none. A runtime in which it is more than that has the hash.
            MemoryLayout<UnsafeCurrentTask?>.size == MemoryLayout<Int>.size
                ? unsafeBitCast(task, to: Int.self) : task?.hashValue ?? 0
        }
    }
}

// MARK: time limits

/// Limits the time of all remote calls made in `body` together: each ends at the latest `duration` from now.
///
/// Of several limits the earliest holds: this one, one further out, the client's own, or the deadline of the call being served.
/// A call that runs out of time throws `RPCError` with the code `.deadlineExceeded`, or `.unavailable` if there was no
/// connection to send it on. Local work in `body` is not interrupted.
/// - Throws: what `body` throws.
public func withCallTimeout<Result, Failure>(
    _ duration: Duration, _ body: () async throws(Failure) -> Result
) async throws(Failure) -> Result {
    let scope = (CallScope.current ?? CallScope()).limited(to: MonotonicClock.now.advanced(by: duration))
    return try await scope.enteredByUser(body)
}

// MARK: deadlines

/// When the call that a task makes or serves has to be over.
///
/// Every remote call made under a deadline ends by then, and tells the other end how much time is left. So a subject that calls
/// another service passes its deadline on without code for it. A subject that computes for long can check it:
///
/// ```swift
/// while let piece = pieces.next() {
///     if let deadline = Deadline.current, deadline.timeLeft < .milliseconds(5) { break }
///     result.add(piece)
/// }
/// ```
public struct Deadline: Sendable, Hashable {
    private let moment: Instant

    /// The deadline of the calling task: the earliest of the call being served and of every `withCallTimeout` around. Nil when
    /// there is none.
    public static var current: Deadline? {
        CallScope.current?.deadline.map(Deadline.init(moment:))
    }

    private init(moment: Instant) { self.moment = moment }

    /// The deadline itself, for functions that take one.
    public var instant: ContinuousClock.Instant { .now + timeLeft }

    /// The time until the deadline, on the monotonic clock; negative when it has passed.
    public var timeLeft: Duration { MonotonicClock.now.duration(to: moment) }

    /// Whether the deadline has passed. By then no caller waits for the result any more.
    public var hasPassed: Bool { timeLeft <= .zero }
}

extension Deadline: CustomStringConvertible {
    /// The time left, such as `in 2.5 seconds`, or the time since then.
    public var description: String { hasPassed ? "\(.zero - timeLeft) ago" : "in \(timeLeft)" }
}
