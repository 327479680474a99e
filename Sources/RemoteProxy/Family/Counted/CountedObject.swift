// The driver of `HolderCount`: makes the object for the first holder, tells its owner when the last one has left, and
// keeps calls and posts waiting in between.

import RPCWire

final class CountedObject<Service: Sendable>: Sendable {
    typealias Made = Swift.Result<Service, any Error>

    private enum Action: Sendable {
        case nothing
        case make
        case tell(Service)
    }

    private enum Place: Sendable {
        case ready(Service)
        case waiting(WaitingTask<Made>)
    }

    private struct State {
        var count = HolderCount()
        var object: Service?
        var waiting = WaitingLine<Made>()
        var posts: KeptPosts<Service>
        /// The sessions that hold.
        var sessions: Set<ObjectIdentifier> = []

        /// What a call or a post has to be given to now; nil when it has to wait.
        var ready: Service? { posts.areAhead ? nil : object }

        mutating func joined() -> Action { action(count.joined()) }

        mutating func left(_ count: Int = 1) -> Action { action(self.count.left(count)) }

        mutating func action(_ step: HolderCount.Step) -> Action {
            switch step {
            case .nothing: return .nothing
            case .make: return .make
            case .tell:
                defer { object = nil }
                return object.map { .tell($0) } ?? .nothing
            }
        }
    }

    private let timeout: Duration
    private let clock: any Loop
    private let make: @Sendable () async throws -> Service
    private let whenLast: @Sendable (Service) async -> Void
    private let state: Lock<State>

    init(
        timeout: Duration, maximumKeptPosts: Int, clock: any Loop,
        make: @escaping @Sendable () async throws -> Service, whenLast: @escaping @Sendable (Service) async -> Void
    ) {
        self.timeout = timeout
        self.clock = clock
        self.make = make
        self.whenLast = whenLast
        state = Lock(State(posts: KeptPosts(limit: maximumKeptPosts)))
    }

    /// How many hold it now: for tests.
    var holders: Int { state.withLock { $0.count.holders } }

    // MARK: Holding

    /// One more holder, until `leave`.
    func join() { perform(state.withLock { $0.joined() }) }

    func leave() { perform(state.withLock { $0.left() }) }

    /// A session holds from its first call or post until it is over.
    func join(_ caller: Caller) {
        let session = ObjectIdentifier(caller.peer)
        let (isNew, action) = state.withLock { state -> (Bool, Action) in
            state.sessions.insert(session).inserted ? (true, state.joined()) : (false, .nothing)
        }
        guard isNew else { return }
        perform(action)
        caller.whenGone { [self] in
            perform(
                state.withLock { state in
                    state.sessions.remove(session) == nil ? .nothing : state.left()
                })
        }
    }

    // MARK: Using

    /// The object, for one who holds it until `leave`.
    /// - Throws: what making it threw; `RPCError` at the deadline; `CancellationError` at once. Then it is not held.
    func object() async throws -> Service {
        let (action, place) = state.withLock { state -> (Action, Place) in
            let action = state.joined()
            return (action, state.ready.map { .ready($0) } ?? .waiting(state.waiting.join()))
        }
        perform(action)
        switch place {
        case .ready(let object): return object
        case .waiting(let task):
            do {
                return try await result(task).get()
            } catch {
                leave()
                throw error
            }
        }
    }

    private func result(_ waiting: WaitingTask<Made>) async throws -> Made {
        let deadline = CallScope.current?.deadline ?? clock.now.advanced(by: timeout)
        do throws(WaitingTask<Made>.GivenUp) {
            return try await waiting.wait(until: deadline, on: clock)
        } catch {
            throw error == .cancelled ? CancellationError() : RPCError.notMadeInTime
        }
    }

    /// Delivers a post at once if the object is there, else in its turn; a post holds until it has been delivered.
    func post(now: (Service) -> Void, later: () -> KeptPosts<Service>.Delivery) {
        let (action, object) = state.withLock { state -> (Action, Service?) in
            let action = state.joined()
            if let object = state.ready { return (action, object) }
            return state.posts.keep(later()) ? (action, nil) : (state.left(), nil)
        }
        perform(action)
        guard let object else { return }
        now(object)
        leave()
    }

    // MARK: Making and telling

    private func perform(_ action: Action) {
        switch action {
        case .nothing: break
        case .make: detached { await self.makeObject() }
        case .tell(let object):
            detached {
                await self.whenLast(object)
                self.perform(self.state.withLock { $0.action($0.count.told()) })
            }
        }
    }

    /// For all holders, so under nobody's deadline and on nobody's behalf.
    private func detached(_ work: @escaping @Sendable () async -> Void) {
        _ = CallScope.$current.withValue(nil) { Task { await work() } }
    }

    private func makeObject() async {
        do {
            let object = try await make()
            let (action, waiting) = state.withLock { state in
                state.object = object
                // While posts are kept for it there are holders.
                let action = state.action(state.count.made())
                return (action, state.posts.begin() ? [] : state.waiting.takeAll())
            }
            for task in waiting { _ = task.end(with: .success(object)) }
            perform(action)
            await deliverPosts(to: object)
        } catch {
            let (action, waiting) = state.withLock { state in
                state.count.failed()
                let posts = state.posts.removeAll()
                return (state.left(posts), state.waiting.takeAll())
            }
            for task in waiting { _ = task.end(with: .failure(RPCError.notMade(error))) }
            perform(action)
        }
    }

    /// The posts that were kept, and then the calls that came behind them.
    private func deliverPosts(to object: Service) async {
        let subject = LocalSubject(object: object)
        while true {
            let (post, waiting) = state.withLock { state in
                let post = state.posts.next()
                return (post, post == nil ? state.waiting.takeAll() : [])
            }
            for task in waiting { _ = task.end(with: .success(object)) }
            guard let post else { return }
            await post(subject)
            leave()
        }
    }
}

extension RPCError {
    fileprivate static let notMadeInTime = RPCError(
        .deadlineExceeded, "the time allowed for the call was over before the object was there", outcome: .notExecuted)

    /// Says that of the call, whatever became of making.
    fileprivate static func notMade(_ error: any Error) -> any Error {
        guard var error = error as? RPCError else { return error }
        error.outcome = .notExecuted
        return error
    }
}
