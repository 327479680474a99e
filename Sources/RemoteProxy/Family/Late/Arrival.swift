// Whether the object of a lazy, counted or late-bound proxy is there, who waits for it and who uses it. A machine without
// locks, tasks or clocks: events and times come in, steps go out. `LateSubject` drives it.

import RPCWire

/// The object of a late subject, with what is to be done when it goes.
struct LateObject<Service: Sendable>: Sendable {
    let subject: any Subject<Service>
    var whenLetGo: @Sendable () async -> Void = {}
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
        case leaving
    }

    /// What the driver has to do.
    enum Step {
        case nothing
        case make
        case letGo(LateObject<Service>)
        /// `look` has to be called at this time.
        case look(at: Instant)
    }

    /// What a call does now.
    enum Entry {
        case go(any Subject<Service>)
        case wait(WaitingTask<Turn>)
    }

    /// What becomes of a post.
    enum Posting {
        case go(any Subject<Service>)
        case kept
        case refused
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
    private var stage = Stage.absent
    private var line = WaitingLine<Turn>()
    /// How many posts are kept.
    private let limit: Int
    private var posts: [KeptPost<Service>] = []
    private(set) var refusedPosts = 0
    /// Calls and posts, from their coming to their end, and those that hold the object without calling it. Means nothing
    /// where the object stays for ever: users need not leave there.
    private(set) var users = 0
    /// The sessions among the users.
    private var sessions: Set<ObjectIdentifier> = []
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

    // MARK: users

    /// A user comes that does not call at present. It leaves later.
    mutating func join() -> Step {
        users += 1
        return makeIfAbsent()
    }

    /// A session comes, which is a user until it is over. Nil when it is one already.
    mutating func join(session: ObjectIdentifier) -> Step? {
        sessions.insert(session).inserted ? join() : nil
    }

    mutating func leave(session: ObjectIdentifier, at now: Instant) -> Step {
        sessions.remove(session) == nil ? .nothing : leave(at: now)
    }

    /// A call comes. It leaves later, also when it has given up waiting.
    mutating func enter() -> (Entry, Step) {
        users += 1
        if case .settled(let object) = stage { return (.go(object.subject), .nothing) }
        return (.wait(line.join()), makeIfAbsent())
    }

    /// A post comes. Unless it was refused it leaves later.
    mutating func post(_ delivery: () -> KeptPost<Service>) -> (Posting, Step) {
        if case .settled(let object) = stage {
            users += 1
            return (.go(object.subject), .nothing)
        }
        // Also a post that is refused has the object made, so that the next one finds it.
        let step = makeIfAbsent()
        guard posts.count < limit else {
            refusedPosts += 1
            return (.refused, step)
        }
        posts.append(delivery())
        users += 1
        return (.kept, step)
    }

    mutating func leave(at now: Instant) -> Step {
        users -= 1
        return letGoIfUnused(at: now)
    }

    // MARK: the object

    /// The object could not be made, and the next user has it tried again.
    /// - Returns: the calls to be told.
    mutating func fail(droppingPosts: Bool) -> [WaitingTask<Turn>] {
        stage = .absent
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
    mutating func nextRound(at now: Instant) -> (Round?, Step) {
        guard case .settling(let object) = stage else { return (nil, .nothing) }
        let round = Round(subject: object.subject, posts: posts, calls: line.takeAll())
        posts = []
        if !round.posts.isEmpty || !round.calls.isEmpty { return (round, .nothing) }
        stage = .settled(object)
        return (nil, letGoIfUnused(at: now))
    }

    /// It is time to see whether the object has been unused for long enough.
    mutating func look(at now: Instant) -> Step {
        isWatched = false
        return letGo(unusedSince: unusedSince, at: now)
    }

    /// The former object is gone.
    mutating func gone() -> Step {
        stage = .absent
        return users > 0 ? makeIfAbsent() : .nothing
    }

    private mutating func makeIfAbsent() -> Step {
        guard isMade, case .absent = stage else { return .nothing }
        stage = .making
        return .make
    }

    private mutating func letGoIfUnused(at now: Instant) -> Step {
        unusedSince = now
        return letGo(unusedSince: now, at: now)
    }

    private mutating func letGo(unusedSince start: Instant, at now: Instant) -> Step {
        guard users == 0, let keepingAlive, case .settled(let object) = stage else { return .nothing }
        let end = start.advanced(by: keepingAlive)
        if end <= now {
            stage = .leaving
            return .letGo(object)
        }
        guard !isWatched else { return .nothing }
        isWatched = true
        return .look(at: end)
    }
}
