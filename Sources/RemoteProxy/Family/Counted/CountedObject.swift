// The driver of `HolderCount`: makes the object for the first holder, tells its owner when the last one has left, and
// keeps calls and posts waiting in between.

import RPCWire

final class CountedObject<Service: Sendable>: Sendable {
    typealias Made = Swift.Result<any Subject<Service>, any Error>

    /// The object as its owner made it, and as it is called.
    struct Object: Sendable {
        let made: Service
        let subject: any Subject<Service>
    }

    enum Action: Sendable {
        case nothing
        case make
        case tell(Object)
    }

    /// Who is to be given the object.
    enum Next: Sendable {
        case post(KeptPosts<Service>.Delivery)
        case calls([WaitingTask<Made>])
    }

    private enum Place: Sendable {
        case ready(any Subject<Service>)
        case waiting(WaitingTask<Made>)
    }

    struct State {
        var count = HolderCount()
        var object: Object?
        var waiting = WaitingLine<Made>()
        var posts: KeptPosts<Service>
        /// The sessions that hold.
        var sessions: Set<ObjectIdentifier> = []

        /// What a call or a post has to be given to now; nil when it has to wait.
        var ready: (any Subject<Service>)? { posts.areAhead ? nil : object?.subject }

        mutating func next() -> Next {
            posts.next().map { .post($0) } ?? .calls(waiting.takeAll())
        }

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

    let name: String
    private let timeout: Duration
    let maximumKeptPosts: Int
    private let clock: any Loop
    /// Where objects are made and let go: anywhere, but for tests.
    let executor: (any TaskExecutor)?
    let make: @Sendable () async throws -> Object
    let whenLast: @Sendable (Service) async -> Void
    let state: Lock<State>

    init(
        _ name: String, timeout: Duration, maximumKeptPosts: Int, clock: any Loop, executor: (any TaskExecutor)?,
        make: @escaping @Sendable () async throws -> Object, whenLast: @escaping @Sendable (Service) async -> Void
    ) {
        self.name = name
        self.timeout = timeout
        self.maximumKeptPosts = maximumKeptPosts
        self.clock = clock
        self.executor = executor
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
        let session = caller.sessionIdentifier
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
    /// - Throws: `RPCError` when it could not be made, and at the deadline; `CancellationError` at once. Then it is not held.
    func object() async throws -> any Subject<Service> {
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
            throw error == .cancelled ? CancellationError() : RPCError.notMadeInTime(name)
        }
    }

    /// Delivers a post at once if the object is there, else in its turn; a post holds until it has been delivered. False
    /// when as many wait as may.
    func post(now: (any Subject<Service>) -> Void, later: () -> KeptPosts<Service>.Delivery) -> Bool {
        let (actions, object, isKept) = state.withLock { state -> ([Action], (any Subject<Service>)?, Bool) in
            let joined = state.joined()
            if let object = state.ready { return ([joined], object, true) }
            let isKept = state.posts.keep(later())
            // The post may have been the first to want the object, which then has to be made all the same.
            return (isKept ? [joined] : [joined, state.left()], nil, isKept)
        }
        for action in actions { perform(action) }
        guard let object else { return isKept }
        now(object)
        leave()
        return true
    }
}
