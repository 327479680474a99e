// The driver of `HolderCount`: makes the object for the first holder, tells its owner when the last one has left, and
// keeps calls and posts waiting in between.

import RPCSockets
import RPCWire

final class CountedObject<Service: Sendable>: Sendable {
    typealias Made = Swift.Result<any Subject<Service>, any Error>

    /// The object as it is called, and as its owner made it. A class, so that the size of what holds one does not depend
    /// on the service: finding out costs more than a call.
    final class Object: Sendable {
        let subject: any Subject<Service>
        let made: Service

        init(_ subject: any Subject<Service>, made: Service) {
            self.subject = subject
            self.made = made
        }
    }

    /// Who is to be given the object.
    enum Next: Sendable {
        case post(KeptPosts<Service>.Delivery)
        case calls([WaitingTask<Made>])
    }

    struct State {
        var count = HolderCount()
        var object: Object?
        var waiting = WaitingLine<Made>()
        var posts: KeptPosts<Service>
        /// The sessions that hold.
        var sessions: Set<ObjectIdentifier> = []

        /// What a call or a post has to be given to now; nil when it has to wait.
        var ready: Object? { posts.areAhead ? nil : object }

        mutating func next() -> Next {
            posts.next().map { .post($0) } ?? .calls(waiting.takeAll())
        }

        /// One more holder. Answers whether an object has to be made.
        mutating func joined() -> Bool { count.joined() == .make }

        /// As many fewer. Answers the object that nobody holds any more.
        mutating func left(_ count: Int = 1) -> Object? { unwanted(self.count.left(count)) }

        mutating func unwanted(_ step: HolderCount.Step) -> Object? {
            guard step == .tell else { return nil }
            defer { object = nil }
            return object
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
    func join() { if state.withLock({ $0.joined() }) { startMaking() } }

    func leave() {
        // Not by returning it, here and in `object`: what the type is, would have to be found out each time.
        var unwanted: Object?
        state.withLock { unwanted = $0.left() }
        if let unwanted { letGo(unwanted) }
    }

    /// A session holds from its first call or post until it is over.
    func join(_ caller: Caller) {
        let session = caller.sessionIdentifier
        let (isNew, mustMake) = state.withLock { state in
            state.sessions.insert(session).inserted ? (true, state.joined()) : (false, false)
        }
        guard isNew else { return }
        if mustMake { startMaking() }
        caller.whenGone { [self] in
            let object = state.withLock { state in
                state.sessions.remove(session) == nil ? nil : state.left()
            }
            if let object { letGo(object) }
        }
    }

    // MARK: Using

    /// The object, for one who holds it until `leave`.
    /// - Throws: `RPCError` when it could not be made, and at the deadline; `CancellationError` at once. Then it is not held.
    func object() async throws -> any Subject<Service> {
        var object: Object?
        var waiting: WaitingTask<Made>?
        let mustMake = state.withLock { state in
            let mustMake = state.joined()
            object = state.ready
            if object == nil { waiting = state.waiting.join() }
            return mustMake
        }
        if let object { return object.subject }
        if mustMake { startMaking() }
        do {
            guard let waiting else { throw RPCError.notMadeInTime(name) }
            return try await result(waiting).get()
        } catch {
            leave()
            throw error
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
        let (mustMake, object, unwanted, isKept) = state.withLock { state -> (Bool, Object?, Object?, Bool) in
            // The post may be the first to want the object, which then has to be made all the same.
            let mustMake = state.joined()
            if let object = state.ready { return (mustMake, object, nil, true) }
            let isKept = state.posts.keep(later())
            return (mustMake, nil, isKept ? nil : state.left(), isKept)
        }
        if mustMake { startMaking() }
        if let unwanted { letGo(unwanted) }
        guard let object else { return isKept }
        now(object.subject)
        leave()
        return true
    }
}
