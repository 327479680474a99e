// A subject whose object comes later: it is bound by the program, or made for the first user. Drives `Arrival`: lock, feed
// the event, unlock, act.

import RPCSockets
import RPCWire

final class LateSubject<Service: Sendable>: EndSubject, PassingSubject, HoldableSubject {
    typealias Object = LateObject<Service>
    private typealias Turn = Arrival<Service>.Turn

    /// What makes a lazy, a late-bound and a counted proxy differ.
    struct Kind: Sendable {
        let service: String
        /// How long a call waits for the object.
        var timeout: Duration
        /// How many posts are kept while there is no object, and how the program calls that limit.
        var limit: Int
        var limitName = "limit"
        /// How long the object stays without users. Nil for ever.
        var keepingAlive: Duration?
        /// Whether sessions and handles are users too, and posts are dropped when the object cannot be made.
        var isCounted = false
    }

    let kind: Kind
    /// Makes the object when it is wanted. Nil when it is to be bound.
    private let make: (@Sendable () async throws -> Object)?
    private let loop: any Loop
    /// Where objects are made and kept posts are delivered. The ordinary pool, except in tests: a costly object would keep the
    /// loop's thread busy.
    private let executor: (any TaskExecutor)?
    private let arrival: Lock<Arrival<Service>>
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

    /// Whether it makes its object, and so cannot be bound.
    var makesObject: Bool { make != nil }
    var refusedPosts: Int { arrival.withLock { $0.refusedPosts } }
    /// How many use the object: for tests.
    var users: Int { arrival.withLock { $0.users } }
    var arrived: (any Subject<Service>)? { arrival.withLock { $0.subject } }

    // MARK: as a subject

    func ask<Answer: Sendable>(
        isRepeatable: Bool, _ question: (any Subject<Service>) async throws -> Answer
    ) async throws -> Answer {
        let subject = try await enter()
        defer { leave() }
        return try await question(subject)
    }

    /// The object is used for as long as it is held.
    func takeHold(for lease: Duration) async throws -> Hold {
        let subject = try await enter()
        do {
            let hold = try await subject.hold(for: lease)
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
        if kind.isCounted { joinSession() }
        switch feed({ $0.post { kept(post, arguments) } }) {
        case .go(let subject):
            subject.post(post, arguments, now: now)
            leave()
        case .wait, .kept: break
        case .refused:
            DroppedPosts.add(
                post.signature, because: "\(kind.limit) posts wait for the object already (\(kind.limitName))")
        }
    }

    private func enter() async throws -> any Subject<Service> {
        if kind.isCounted { joinSession() }
        let entry = feed { $0.enter() }
        if case .go(let subject) = entry { return subject }
        do {
            guard case .wait(let task) = entry, let turn = try await task.wait(until: deadline, on: loop) else {
                throw outOfTime
            }
            return try turn.get()
        } catch {
            leave()
            throw error
        }
    }

    /// A counted object is waited for until the caller's deadline, another one no longer than the timeout.
    private var deadline: Instant {
        let given = loop.deadline(orAfter: kind.timeout)
        return kind.isCounted ? given : min(given, loop.now.advanced(by: kind.timeout))
    }

    private var outOfTime: RPCError {
        let why =
            makesObject
            ? "the \(kind.service) was not made within the time allowed for the call (timeout)"
            : "the \(kind.service) was not bound (see bind(to:)) within the time allowed for the call (timeout)"
        return RPCError(.deadlineExceeded, why, outcome: .notExecuted)
    }

    // MARK: users

    /// One more user, until `leave`.
    func join() { feed { $0.join() } }

    func leave() {
        guard kind.keepingAlive != nil else { return }
        let now = now
        feed { $0.leave(at: now) }
    }

    /// The calling session is a user from its first call or post to its end.
    private func joinSession() {
        guard let scope = CallScope.current, let caller = scope.caller else { return }
        // What is called through a handle is the handle's use, whatever session it is done for.
        let isThroughHandle = scope.rights.contains { ($0 as? HandleRight)?.object == ObjectIdentifier(self) }
        let session = caller.sessionIdentifier
        guard !isThroughHandle, feed({ $0.join(session: session) }) else { return }
        caller.whenGone { [self] in
            let now = now
            feed { $0.leave(session: session, at: now) }
        }
    }

    // MARK: the object

    /// The object is there. False when there was one already.
    func arrive(_ object: Object) -> Bool {
        guard arrival.withLock({ $0.arrive(object) }) else { return false }
        letThrough()
        return true
    }

    /// Read only where it matters how long the object has been unused.
    private var now: Instant {
        kind.keepingAlive == nil || kind.keepingAlive == .zero ? Instant(nanoseconds: 0) : loop.now
    }

    /// Tells the machine of an event, and does what is to be done then.
    private func feed<Answer>(_ event: (inout Arrival<Service>) -> Answer) -> Answer {
        let now = now
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

    /// On no thread of a caller: the end of a costly object takes its time.
    private func letGo() {
        detached { [self] in
            await arrival.withLock { $0.leaving }?.whenLetGo()
            feed { $0.gone() }
        }
    }

    /// Makes the object for all that wait: without the deadline, caller or cancellation of one of them. The task keeps this
    /// subject, so that kept posts are delivered although the proxy is gone.
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

    /// What making the object threw, for the calls that waited for it and have not run. An `RPCError` keeps its code; others
    /// become the cause of one, since a server sends messages to its clients.
    private func notMade(_ error: any Error) -> RPCError {
        guard var error = error as? RPCError else {
            return RPCError(
                .unavailable, "the \(kind.service) could not be made; the next call tries again", outcome: .notExecuted,
                underlying: error)
        }
        error.outcome = .notExecuted
        return error
    }

    private func letThrough() {
        let now = now
        while let round = feed({ $0.nextRound(at: now) }) {
            guard round.posts.isEmpty else { return deliver(round) }
            end(round)
        }
    }

    /// Only a task can get to the actor that a post belongs to.
    private func deliver(_ round: Arrival<Service>.Round) {
        detached { [self] in
            for post in round.posts {
                await post(round.subject)
                leave()
            }
            end(round)
            letThrough()
        }
    }

    private func end(_ round: Arrival<Service>.Round) {
        for call in round.calls { _ = call.end(with: .success(round.subject)) }
    }

    private func detached(_ work: @escaping @Sendable () async -> Void) {
        Task.detached(executorPreference: executor, priority: Task.currentPriority, operation: work)
    }
}
