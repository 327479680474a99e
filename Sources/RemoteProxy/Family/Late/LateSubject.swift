// A subject whose object comes later: the program binds it, or the first user causes it to be made. It drives `Arrival`: takes
// the lock, feeds the event, releases the lock, and acts.

import RPCSockets
import RPCWire
import Synchronization

/// The object of a late subject, with the closure to run when it is let go. A class, since the size of a reference does not depend
/// on the service.
final class LateObject<Service: Sendable>: Sendable {
    let subject: any Subject<Service>
    let whenLetGo: @Sendable () async -> Void

    init(subject: any Subject<Service>, whenLetGo: @escaping @Sendable () async -> Void = {}) {
        (self.subject, self.whenLetGo) = (subject, whenLetGo)
    }
}

/// `@unchecked Sendable`: `object` changes under the lock of `arrival` only. It is read there, or after `isSettled` was seen, or by a
/// user of the object: it does not change any more then, or not before the user leaves.
final class LateSubject<Service: Sendable>: EndSubject, PassingSubject, HoldableSubject, CountedSubject,
    @unchecked Sendable
{
    typealias Object = LateObject<Service>

    /// The settings in which lazy, late-bound and counted proxies differ.
    struct Kind: Sendable {
        let service: String
        /// How long a call waits for the object.
        var timeout: Duration
        /// How many posts are kept while there is no object, and the name of that limit in the program's code.
        var limit: Int
        /// How long the object stays without users; nil for ever.
        var keepingAlive: Duration?
        /// Whether handles count as users, and kept posts are dropped if the object cannot be made.
        var isCounted = false
    }

    let kind: Kind
    /// Makes the object; nil if the program binds it.
    private let make: (@Sendable () async throws -> Object)?
    private let loop: any Loop
    /// Where objects are made and kept posts are delivered. That is the ordinary pool, except in tests: making a costly object
    /// would keep the loop's thread busy.
    private let executor: (any TaskExecutor)?
    private let arrival: Lock<Arrival>
    /// The object, from its arrival until it has been let go.
    private var object: Object?
    /// Whether the object is there for good. From then on nothing is locked.
    private let isSettled = Atomic(false)
    private let timer = Lock<(any LoopTimer)?>(nil)

    init(
        _ kind: Kind, on loop: any Loop, executor: (any TaskExecutor)? = nil,
        make: (@Sendable () async throws -> Object)? = nil
    ) {
        self.kind = kind
        self.make = make
        self.loop = loop
        self.executor = executor
        arrival = Lock(Arrival(limit: kind.limit, isMade: make != nil, keepingAlive: kind.keepingAlive))
    }

    deinit { timer.withLock { $0 }?.cancel() }

    var refusedPosts: Int { arrival.withLock { $0.refusedPosts } }
    /// The number of users, for tests.
    var users: Int { arrival.withLock { $0.users } }
    var arrived: (any Subject<Service>)? { arrival.withLock { $0.hasObject ? object?.subject : nil } }

    // MARK: as a subject

    @inline(__always)
    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        if let settled { return try await settled.subject.call(method, arguments) }
        // Without a function that waits, if there is nothing to wait for.
        let entry = begin()
        let present = if case .go = entry, let object { object } else { try await turn(entry) }
        defer { leave() }
        return try await present.subject.call(method, arguments)
    }

    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        let present = try await enter()
        defer { leave() }
        return try await question(present.subject)
    }

    /// The hold counts as a user of the object until it ends.
    func takeHold(for lease: Duration) async throws -> Hold {
        let present = try await enter()
        do {
            let hold = try await present.subject.hold(for: lease)
            return Hold(hold.right) { [self] in
                hold.release()
                leave()
            }
        } catch {
            leave()
            throw error
        }
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        if let settled { return settled.subject.post(post, arguments, now: now) }
        var entry = feed { $0.post(nil) }
        if case .keep = entry {
            do throws(NotKept) {
                let kept = try KeptPost(post, arguments, through: { [weak self] in self?.arrived })
                entry = feed { $0.post(kept) }
            } catch {
                return DroppedPosts.add(post.signature.wireName, because: error.why)
            }
        }
        switch entry {
        case .go where post.isAsync && kind.keepingAlive != nil:
            var scope = CallScope.current ?? CallScope()
            scope.rights.append(LateUser(self))
            CallScope.with(scope) { object?.subject.post(post, arguments, now: now) }
        case .go:
            object?.subject.post(post, arguments, now: now)
            leave()
        case .wait, .keep, .kept: break
        case .refused:
            DroppedPosts.add(
                post.signature.wireName, because: "\(kind.limit) posts wait for the object already (maximumKeptPosts)")
        }
    }

    /// The object, if it is there for good.
    @inline(__always)
    private var settled: Object? { isSettled.load(ordering: .acquiring) ? object : nil }

    private func enter() async throws -> Object {
        if let settled { return settled }
        let entry = begin()
        if case .go = entry, let object { return object }
        return try await turn(entry)
    }

    /// Makes the call a user of the object.
    private func begin() -> Arrival.Entry { feed { $0.enter() } }

    private func turn(_ entry: Arrival.Entry) async throws -> Object {
        do {
            guard case .wait(let task) = entry, let turn = try await task.wait(until: deadline, on: loop) else {
                throw outOfTime
            }
            try turn.get()
            guard let object else { throw outOfTime }
            return object
        } catch {
            leave()
            throw error
        }
    }

    /// Calls wait for a counted object until the caller's deadline, for any other no longer than the timeout.
    private var deadline: Instant {
        let given = loop.deadline(orAfter: kind.timeout)
        return kind.isCounted ? given : min(given, loop.now.advanced(by: kind.timeout))
    }

    private var outOfTime: RPCError {
        let why =
            make != nil
            ? "the \(kind.service) was not made within the time allowed for the call (timeout)"
            : "the \(kind.service) was not bound (LateBinding.bind(to:)) within the time allowed for the call (timeout)"
        return RPCError(.deadlineExceeded, why, outcome: .notExecuted)
    }

    // MARK: users

    func use() -> (any AnyObject & Sendable)? {
        guard kind.isCounted else { return nil }
        feed { $0.join() }
        return LateUser(self)
    }

    func leave() {
        guard kind.keepingAlive != nil else { return }
        feed { $0.leave(at: now) }
    }

    // MARK: the object

    /// Takes the object. Returns false if there was one already.
    func arrive(_ object: Object) -> Bool {
        let isFirst = arrival.withLock { arrival in
            guard arrival.arrive() else { return false }
            self.object = object
            return true
        }
        if isFirst { letThrough() }
        return isFirst
    }

    /// The clock is read only if it matters how long the object has been unused.
    private var now: Instant {
        kind.keepingAlive == nil || kind.keepingAlive == .zero ? Instant(nanoseconds: 0) : loop.now
    }

    /// Feeds the machine an event, then does what its `step` says.
    @inline(__always)
    private func feed<Answer>(_ event: (inout Arrival) -> Answer) -> Answer {
        var step = LateStep.nothing
        let answer = arrival.withLock { arrival in
            defer { step = arrival.step(at: now) }
            return event(&arrival)
        }
        switch step {
        case .nothing: break
        case .make: startMaking()
        case .letGo: letGo()
        case .look(let time):
            let next = loop.schedule(at: time) { [weak self] in self?.feed { $0.look() } }
            timer.withLock { $0 = next }
        }
        return answer
    }

    /// Runs in a task of its own, not on a caller's thread: releasing a costly object takes time.
    private func letGo() {
        detached { [self] in
            await arrival.withLock { _ in object }?.whenLetGo()
            feed { arrival in
                arrival.gone()
                object = nil
            }
        }
    }

    /// Makes the object in a task of its own, without any caller's deadline or cancellation. The task retains this subject, so
    /// that kept posts are delivered even if the proxy has been released.
    private func startMaking() {
        guard let make else { return }
        detached { [self] in
            do {
                _ = arrive(try await make())
            } catch {
                let failure = notMade(error)
                for call in feed({ $0.fail(droppingPosts: kind.isCounted) }) {
                    _ = call.end(with: .failure(failure))
                }
            }
        }
    }

    /// The error for the calls that waited for an object that could not be made. An `RPCError` keeps its code. Any other error
    /// becomes the cause of an `RPCError`, because a server sends its clients the messages of those.
    private func notMade(_ error: any Error) -> RPCError {
        guard var error = error as? RPCError else {
            return RPCError(
                .unavailable, "the \(kind.service) could not be made; the next call tries again", outcome: .notExecuted,
                underlying: error)
        }
        error.outcome = .notExecuted
        return error
    }

    /// Runs the next round.
    /// - Parameter calls: those of the round before. They go on after the next round is known. Otherwise a post that they make
    ///   next could be kept, although nothing waits any more.
    private func letThrough(_ calls: [WaitingTask<Arrival.Turn>] = []) {
        let round = feed { $0.nextRound(at: now) }
        end(calls)
        guard let round else { return }
        guard round.posts.isEmpty else { return deliver(round) }
        if kind.keepingAlive == nil { isSettled.store(true, ordering: .releasing) }
        end(round.calls)
    }

    /// Delivers a round in a task: only a task can switch to the actor of a post.
    private func deliver(_ round: Arrival.Round) {
        detached { [self] in
            for post in round.posts {
                await post.deliver()
                leave()
            }
            letThrough(round.calls)
        }
    }

    private func end(_ calls: [WaitingTask<Arrival.Turn>]) {
        for call in calls { _ = call.end(with: .success(())) }
    }

    private func detached(_ work: @escaping @Sendable () async -> Void) {
        Task.detached(executorPreference: executor, priority: Task.currentPriority, operation: work)
    }
}

/// A user of the object of a late subject, for as long as it is there. Also a right, which lives as long as the scope of an `async`
/// post: an object runs such a post after `post` has returned, and must not be let go before.
private final class LateUser<Service: Sendable>: Right {
    private let late: LateSubject<Service>

    /// The user has joined already.
    init(_ late: LateSubject<Service>) { self.late = late }

    deinit { late.leave() }
}
