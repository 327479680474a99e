// Whether the object of a lazy, counted or late-bound proxy is there, what waits for it and what uses it. A machine without
// locks, tasks or clocks: events and times come in, and `step` says what is to be done then. `LateSubject` drives it.

import RPCWire

/// The object of a late subject, with what is to be done when it goes.
struct LateObject<Service: Sendable>: Sendable {
    let subject: any Subject<Service>
    var whenLetGo: @Sendable () async -> Void = {}
}

/// What is to be done after an event.
enum LateStep {
    case nothing
    case make
    /// `gone` has to be called when the object in `leaving` is gone.
    case letGo
    /// `look` has to be called at this time.
    case look(at: Instant)
}

/// What waits for the object is let through in rounds: the posts that have gathered, then the calls. So no call overtakes a
/// post that was made before it, and a stream of posts keeps no call waiting.
struct Arrival<Service: Sendable> {
    typealias Turn = Swift.Result<any Subject<Service>, any Error>

    private enum Stage {
        case absent
        case making
        /// The object is there, and those that waited for it go first.
        case settling(LateObject<Service>)
        case settled(LateObject<Service>)
        /// The object is being let go. The next one is made when that is over.
        case leaving(LateObject<Service>)
    }

    /// What a call or a post does now.
    enum Entry {
        case go(any Subject<Service>)
        /// A call waits.
        case wait(WaitingTask<Turn>)
        /// A post is kept, or refused because as many are kept as may be.
        case kept, refused
    }

    /// Those whose turn it is: first the posts, in order, then the calls.
    struct Round {
        let subject: any Subject<Service>
        let posts: [KeptPost<Service>]
        let calls: [WaitingTask<Turn>]
    }

    /// Whether the object is made when it is wanted, and not bound.
    private let isMade: Bool
    /// How long the object stays without users. Nil for ever.
    private let keepingAlive: Duration?
    /// How many posts are kept.
    private let limit: Int
    private var stage = Stage.absent
    private var line = WaitingLine<Turn>()
    private var posts: [KeptPost<Service>] = []
    private(set) var refusedPosts = 0
    /// Calls and posts, from their coming to their end, and those that hold the object without calling it. Means nothing
    /// where the object stays for ever: users need not leave there.
    private(set) var users = 0
    /// The sessions among the users.
    private var sessions: Set<ObjectIdentifier> = []
    /// Whether a user has come since the object was made, or could not be.
    private var isWanted = false
    private var unusedSince = Instant(nanoseconds: 0)
    /// Whether `look` is going to be called.
    private var isWatched = false

    init(limit: Int, isMade: Bool = true, keepingAlive: Duration? = nil) {
        self.isMade = isMade
        self.keepingAlive = keepingAlive
        self.limit = limit
    }

    /// The object, while it is there.
    var subject: (any Subject<Service>)? {
        switch stage {
        case .absent, .making, .leaving: nil
        case .settling(let object), .settled(let object): object.subject
        }
    }

    /// The object that is being let go.
    var leaving: LateObject<Service>? { if case .leaving(let object) = stage { object } else { nil } }

    // MARK: users

    /// A user comes that does not call at present. It leaves later.
    mutating func join() {
        users += 1
        isWanted = true
    }

    /// A session comes, which is a user until it is over. False when it is one already.
    mutating func join(session: ObjectIdentifier) -> Bool {
        guard sessions.insert(session).inserted else { return false }
        join()
        return true
    }

    mutating func leave(session: ObjectIdentifier, at now: Instant) {
        if sessions.remove(session) != nil { leave(at: now) }
    }

    /// A call comes. It leaves later, also when it has given up waiting.
    mutating func enter() -> Entry {
        join()
        if case .settled(let object) = stage { return .go(object.subject) }
        return .wait(line.join())
    }

    /// A post comes. Unless it was refused it leaves later. One that is refused has the object made too, for the next one.
    mutating func post(_ post: () -> KeptPost<Service>) -> Entry {
        if case .settled(let object) = stage {
            join()
            return .go(object.subject)
        }
        guard posts.count < limit else {
            isWanted = true
            refusedPosts += 1
            return .refused
        }
        join()
        posts.append(post())
        return .kept
    }

    mutating func leave(at now: Instant) {
        users -= 1
        unusedSince = now
    }

    // MARK: the object

    /// The object could not be made, and the next user has it tried again.
    /// - Returns: the calls to be told.
    mutating func fail(droppingPosts: Bool) -> [WaitingTask<Turn>] {
        (stage, isWanted) = (.absent, false)
        if droppingPosts {
            users -= posts.count
            posts = []
        }
        return line.takeAll()
    }

    /// The object is there. False when there is one already.
    mutating func arrive(_ object: LateObject<Service>) -> Bool {
        switch stage {
        case .settling, .settled: return false
        case .absent, .making, .leaving: stage = .settling(object)
        }
        return true
    }

    /// Those that are to be let through next. Nil when none is left: then everything may go in.
    mutating func nextRound(at now: Instant) -> Round? {
        guard case .settling(let object) = stage else { return nil }
        let round = Round(subject: object.subject, posts: posts, calls: line.takeAll())
        posts = []
        if !round.posts.isEmpty || !round.calls.isEmpty { return round }
        (stage, unusedSince) = (.settled(object), now)
        return nil
    }

    /// It is time to see whether the object has been unused for long enough.
    mutating func look() { isWatched = false }

    /// The former object is gone.
    mutating func gone() { (stage, isWanted) = (.absent, users > 0) }

    /// What is to be done now. Asked after each event.
    mutating func step(at now: Instant) -> LateStep {
        if case .absent = stage, isMade, isWanted {
            (stage, isWanted) = (.making, false)
            return .make
        }
        guard case .settled(let object) = stage, users == 0, let keepingAlive else { return .nothing }
        let end = unusedSince.advanced(by: keepingAlive)
        if end <= now {
            stage = .leaving(object)
            return .letGo
        }
        guard !isWatched else { return .nothing }
        isWatched = true
        return .look(at: end)
    }
}
