// Keeps the state of a lazy, counted or late-bound proxy: whether its object exists, which calls and posts wait for it, and how
// many users it has. A state machine without locks, tasks or clocks. `LateSubject` feeds it events and does what `step` says.

import RPCWire

/// What the driver has to do after an event.
enum LateStep {
    case nothing
    case make
    /// Let the object go, and call `gone` afterwards.
    case letGo
    /// Call `look` at this time.
    case look(at: Instant)
}

/// Calls and posts that wait for the object run in rounds: first the posts, then the calls. So no call overtakes an earlier
/// post, and many posts cannot delay a call for ever. The driver keeps the object itself: a machine without a type parameter
/// needs no metadata that is looked up at each call.
struct Arrival {
    /// Calls that had their turn use the object.
    typealias Turn = Swift.Result<Void, any Error>

    private enum Stage {
        case absent
        case making
        /// The object exists. The calls and posts that waited for it run first.
        case settling
        case settled
        /// The object is being let go. The next one is made after that.
        case leaving
    }

    /// What an arriving call or post has to do.
    enum Entry {
        /// The object is there.
        case go
        /// The call waits.
        case wait(WaitingTask<Turn>)
        /// The post is to be made ready to be kept, and to come again.
        case keep
        /// The post is kept, or refused because the limit of kept posts is reached.
        case kept, refused
    }

    /// One round: the posts run first, in order, then the calls.
    struct Round {
        let posts: [KeptPost]
        let calls: [WaitingTask<Turn>]
    }

    /// Whether this proxy makes its object. Otherwise the program binds one.
    private let isMade: Bool
    /// How many nanoseconds the object stays without users; nil for ever.
    private let keepingAlive: Int64?
    /// How many posts are kept.
    private let limit: Int
    private var stage = Stage.absent
    private var line = WaitingLine<Turn>()
    private var posts: [KeptPost] = []
    private(set) var refusedPosts = 0
    /// The calls and posts that have not ended, and other holders of the object. Not exact if the object stays for ever, because
    /// users need not leave then.
    private(set) var users = 0
    /// Whether a user has arrived since the object was made, or since making it failed.
    private var isWanted = false
    private var unusedSince = Instant(nanoseconds: 0)
    /// Whether a call of `look` is scheduled.
    private var isWatched = false

    init(limit: Int, isMade: Bool = true, keepingAlive: Duration? = nil) {
        self.isMade = isMade
        self.keepingAlive = keepingAlive?.nanoseconds
        self.limit = limit
    }

    /// Whether there is an object that is not being let go.
    var hasObject: Bool {
        switch stage {
        case .absent, .making, .leaving: false
        case .settling, .settled: true
        }
    }

    // MARK: users

    /// Adds a user that does not call at present. It has to leave later.
    mutating func join() {
        users += 1
        isWanted = true
    }

    /// Adds a call. It has to leave later, even if it has given up waiting.
    mutating func enter() -> Entry {
        join()
        return stage == .settled ? .go : .wait(line.join())
    }

    /// Adds a post. It has to leave later, unless it is refused. A refused post causes the object to be made too, for later ones.
    /// - Parameter post: nil until it is known that the post must be kept.
    mutating func post(_ post: KeptPost?) -> Entry {
        if stage == .settled {
            join()
            return .go
        }
        if posts.count >= limit { dropPostsOfEndedSessions() }
        guard posts.count < limit else {
            isWanted = true
            refusedPosts += 1
            return .refused
        }
        guard let post else { return .keep }
        join()
        posts.append(post)
        return .kept
    }

    /// Takes out the posts whose sessions are over.
    private mutating func dropPostsOfEndedSessions() {
        let before = posts.count
        posts.removeAll(where: \.isDropped)
        users -= before - posts.count
    }

    /// - Parameter now: is asked for only when the last user leaves.
    mutating func leave(at now: @autoclosure () -> Instant) {
        users -= 1
        if users == 0 { unusedSince = now() }
    }

    // MARK: the object

    /// Notes that the object could not be made. The next user causes another attempt.
    /// - Returns: the calls that get the error.
    mutating func fail(droppingPosts: Bool) -> [WaitingTask<Turn>] {
        (stage, isWanted) = (.absent, false)
        if droppingPosts {
            users -= posts.count
            posts = []
        }
        return line.takeAll()
    }

    /// Takes the object. Returns false if there is one already.
    mutating func arrive() -> Bool {
        switch stage {
        case .settling, .settled: return false
        case .absent, .making, .leaving: stage = .settling
        }
        return true
    }

    /// Returns the calls and posts to run next. If no posts wait, calls and posts run at once from then on.
    mutating func nextRound(at now: @autoclosure () -> Instant) -> Round? {
        guard stage == .settling else { return nil }
        let round = Round(posts: posts, calls: line.takeAll())
        posts = []
        if round.posts.isEmpty { (stage, unusedSince) = (.settled, now()) }
        return round
    }

    /// Notes that the scheduled time has come to see whether the object is still unused.
    mutating func look() { isWatched = false }

    /// Notes that the former object is gone.
    mutating func gone() { (stage, isWanted) = (.absent, users > 0) }

    /// Says what to do now. Call it after each event.
    /// - Parameter now: is asked for only when there is an object without users.
    mutating func step(at now: @autoclosure () -> Instant) -> LateStep {
        if stage == .absent, isMade, isWanted {
            (stage, isWanted) = (.making, false)
            return .make
        }
        guard stage == .settled, users == 0, let keepingAlive else { return .nothing }
        let end = unusedSince.advanced(byNanoseconds: keepingAlive)
        if end <= now() {
            stage = .leaving
            return .letGo
        }
        guard !isWatched else { return .nothing }
        isWatched = true
        return .look(at: end)
    }
}
