// A subject whose object comes later: somebody binds it (`unbound`), or the first call has it made (`lazy`). Calls wait
// for it, posts are kept. The driver of `Arrival`: lock, feed the event, unlock, act.

import RPCSockets
import RPCWire
import Synchronization

final class LateSubject<Service: Sendable>: AwaitingSubject {
    typealias Make = @Sendable () async throws -> any Subject<Service>

    let name: String
    private let timeout: Duration
    private let limit: Int
    /// Makes the object when it is wanted; nil when it is to be bound.
    private let make: Make?
    private let loop: any Loop
    /// Where objects are made and kept posts are delivered: anywhere, but for tests. Not on the loop, since a costly
    /// object may keep its thread busy.
    private let executor: (any TaskExecutor)?
    private let arrival: Lock<Arrival<Service>>
    private let timer = Lock<(any LoopTimer)?>(nil)
    /// Whether the object is there for good. From then on nothing is locked.
    private let isSettled = Atomic(false)
    /// `nonisolated(unsafe)`: written once, before `isSettled` is set, and read only by those who have seen that.
    nonisolated(unsafe) private var settled: (any Subject<Service>)?

    init(
        _ name: String, timeout: Duration, limit: Int, keepingAlive: Duration? = nil, on loop: any Loop,
        executor: (any TaskExecutor)? = nil, make: Make? = nil
    ) {
        self.name = name
        self.timeout = timeout
        self.limit = limit
        self.make = make
        self.loop = loop
        self.executor = executor
        arrival = Lock(Arrival(limit: limit, keepingAlive: keepingAlive))
    }

    deinit { timer.withLock { $0 }?.cancel() }

    /// Whether it makes its object itself, and so cannot be bound.
    var isLazy: Bool { make != nil }
    var refusedPosts: Int { arrival.withLock { $0.refusedPosts } }
    var arrived: (any Subject<Service>)? { arrival.withLock { $0.subject } }

    // MARK: as a subject

    func call<Arguments, Result>(
        _ method: Method<Service, Arguments, Result>, _ arguments: Arguments
    ) async throws -> Result {
        if isSettled.load(ordering: .acquiring), let settled { return try await settled.call(method, arguments) }
        let subject = try await enter()
        defer { leave() }
        return try await subject.call(method, arguments)
    }

    func post<Arguments>(_ post: Post<Service, Arguments>, _ arguments: Arguments, now: (Service) -> Void) {
        if isSettled.load(ordering: .acquiring), let settled { return settled.post(post, arguments, now: now) }
        let (posting, mustMake) = arrival.withLock { ($0.post { post.kept(arguments) }, make != nil && $0.begin()) }
        if mustMake { startMaking() }
        if case .refused = posting {
            DroppedPosts.add(post.signature, because: "\(limit) posts wait for the object already (limit)")
        }
        guard case .go(let subject) = posting else { return }
        defer { leave() }
        subject.post(post, arguments, now: now)
    }

    func supports(_ method: MethodSignature) async throws -> Bool {
        let subject = try await enter()
        defer { leave() }
        return try await subject.supports(method)
    }

    /// The object stays for as long as it is held.
    func hold(for lease: Duration) async throws -> Hold {
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

    private func enter() async throws -> any Subject<Service> {
        let (entry, mustMake) = arrival.withLock { ($0.enter(), make != nil && $0.begin()) }
        if mustMake { startMaking() }
        switch entry {
        case .go(let subject): return subject
        case .wait(let task): return try await wait(task)
        }
    }

    private func wait(_ task: WaitingTask<Arrival<Service>.Turn>) async throws -> any Subject<Service> {
        let own = loop.now.advanced(by: timeout)
        let turn: Arrival<Service>.Turn
        do throws(WaitingTask<Arrival<Service>.Turn>.GivenUp) {
            turn = try await task.wait(until: min(own, CallScope.current?.deadline ?? own), on: loop)
        } catch .cancelled {
            throw CancellationError()
        } catch .deadline {
            if isLazy { throw RPCError.notMadeInTime(name) }
            throw RPCError(
                .deadlineExceeded,
                "the \(name) was bound to nothing (see bind(to:)) within the time allowed for the call (timeout)",
                outcome: .notExecuted)
        }
        return try turn.get()
    }

    private func leave() {
        let now = loop.now
        if let time = arrival.withLock({ $0.leave(at: now) }) { look(at: time) }
    }

    // MARK: the object

    /// A task of its own, with the deadline and the cancellation of nobody: the object is for all that wait. It goes on
    /// when they have given up, and with it this subject, so that posts find what they were kept for.
    private func startMaking() {
        guard let make else { return }
        Task.detached(executorPreference: executor, priority: Task.currentPriority) { [self] in
            do {
                _ = arrive(try await make())
            } catch {
                let failure = RPCError.notMade(name, error)
                for call in arrival.withLock({ $0.fail() }) { _ = call.end(with: .failure(failure)) }
            }
        }
    }

    /// The object is there. False when there was one already.
    func arrive(_ subject: any Subject<Service>) -> Bool {
        guard arrival.withLock({ $0.arrive(subject) }) else { return false }
        letThrough(to: subject)
        return true
    }

    private func letThrough(to subject: any Subject<Service>) {
        while let round = arrival.withLock({ $0.nextRound() }) {
            guard round.posts.isEmpty else { return deliver(round) }
            end(round.calls, with: subject)
        }
        let now = loop.now
        let (isFinal, time) = arrival.withLock { ($0.isFinal, $0.watch(since: now)) }
        if isFinal { settle(subject) }
        if let time { look(at: time) }
    }

    private func settle(_ subject: any Subject<Service>) {
        settled = subject
        isSettled.store(true, ordering: .releasing)
    }

    /// Only a task can get to the actor that a post belongs to.
    private func deliver(_ round: Arrival<Service>.Round) {
        Task.detached(executorPreference: executor, priority: Task.currentPriority) { [self] in
            for post in round.posts { await post(round.subject) }
            end(round.calls, with: round.subject)
            letThrough(to: round.subject)
        }
    }

    private func end(_ calls: [WaitingTask<Arrival<Service>.Turn>], with subject: any Subject<Service>) {
        for call in calls where !call.end(with: .success(subject)) { leave() }
    }

    // MARK: idleness

    private func look(at time: Instant) {
        let next = loop.schedule(at: time) { [weak self] in self?.look() }
        timer.withLock { $0 = next }
    }

    private func look() {
        let now = loop.now
        let (released, again) = arrival.withLock { $0.look(at: now) }
        if let again { look(at: again) }
        // A costly object may take its time to go, which the loop has not.
        if let released { Task.detached(executorPreference: executor) { withExtendedLifetime(released) {} } }
    }
}
