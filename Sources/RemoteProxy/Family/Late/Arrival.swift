// Whether the object of a late-bound or lazy proxy is there, who waits for it and who uses it: an event in, what is to
// be done out, time passed in. Its driver is `LateSubject`.
//
// Whoever comes before the object is let through in rounds: the posts that have gathered, then the calls. So nothing
// overtakes a post that was made before it, and a stream of posts keeps no call waiting.

import RPCWire

struct Arrival<Service: Sendable> {
    typealias Turn = Swift.Result<any Subject<Service>, any Error>
    typealias Delivery = KeptPosts<Service>.Delivery

    private enum Stage {
        case absent
        case making
        /// The object is there, and those that waited for it go first.
        case settling(any Subject<Service>)
        case settled(any Subject<Service>)
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
        let posts: [Delivery]
        let calls: [WaitingTask<Turn>]
    }

    private let limit: Int
    /// How long the object stays without being used; nil for ever.
    private let keepingAlive: Duration?
    private var stage = Stage.absent
    private var line = WaitingLine<Turn>()
    private var posts: [Delivery] = []
    private(set) var refusedPosts = 0
    /// Calls and posts that are in the object.
    private var inside = 0
    private var idleSince = Instant(nanoseconds: 0)
    /// Whether somebody will look at `idleSince`.
    private var isWatched = false

    /// - Parameter limit: how many posts are kept at most.
    init(limit: Int, keepingAlive: Duration? = nil) {
        self.limit = limit
        self.keepingAlive = keepingAlive
    }

    /// Whether the object is there for good, with nobody ahead.
    var isFinal: Bool {
        if case .settled = stage { keepingAlive == nil } else { false }
    }

    /// The object, while it is there.
    var subject: (any Subject<Service>)? {
        switch stage {
        case .absent, .making: nil
        case .settling(let subject), .settled(let subject): subject
        }
    }

    // MARK: coming and going

    /// A call comes. One that may go leaves later.
    mutating func enter() -> Entry {
        guard case .settled(let subject) = stage else { return .wait(line.join()) }
        inside += 1
        return .go(subject)
    }

    /// A post comes. One that may go leaves later.
    mutating func post(_ delivery: () -> Delivery) -> Posting {
        if case .settled(let subject) = stage {
            inside += 1
            return .go(subject)
        }
        guard posts.count < limit else {
            refusedPosts += 1
            return .refused
        }
        posts.append(delivery())
        return .kept
    }

    /// One that went in has come out. Answers when to look whether the object is still used, if anybody should.
    mutating func leave(at now: Instant) -> Instant? {
        inside -= 1
        return inside == 0 ? watch(since: now) : nil
    }

    // MARK: the object

    /// Whether there is no object and nobody makes one: then the caller does.
    mutating func begin() -> Bool {
        guard case .absent = stage else { return false }
        stage = .making
        return true
    }

    /// The object could not be made. Those that waited for it are told; posts are kept for the next attempt.
    mutating func fail() -> [WaitingTask<Turn>] {
        stage = .absent
        return line.takeAll()
    }

    /// The object is there. False when there is one already.
    mutating func arrive(_ subject: any Subject<Service>) -> Bool {
        switch stage {
        case .settling, .settled: return false
        case .absent, .making: stage = .settling(subject)
        }
        return true
    }

    /// Those who are to be let through next; nil when nobody is left, and everybody may go in.
    mutating func nextRound() -> Round? {
        guard case .settling(let subject) = stage else { return nil }
        let calls = line.takeAll()
        guard !posts.isEmpty || !calls.isEmpty else {
            stage = .settled(subject)
            return nil
        }
        defer { posts = [] }
        inside += calls.count
        return Round(subject: subject, posts: posts, calls: calls)
    }

    // MARK: idleness

    /// The object is there and nobody uses it. Answers when to look again, if nobody is about to.
    mutating func watch(since now: Instant) -> Instant? {
        guard let keepingAlive, inside == 0 else { return nil }
        idleSince = now
        guard !isWatched else { return nil }
        isWatched = true
        return now.advanced(by: keepingAlive)
    }

    /// It is time to look: the object is let go if it has not been used for long enough. Otherwise answers when to look
    /// again, if anybody should; the last one to leave will ask anew.
    mutating func look(at now: Instant) -> (released: (any Subject<Service>)?, again: Instant?) {
        isWatched = false
        guard let keepingAlive, inside == 0, case .settled(let subject) = stage else { return (nil, nil) }
        let end = idleSince.advanced(by: keepingAlive)
        guard end <= now else {
            isWatched = true
            return (nil, end)
        }
        stage = .absent
        return (subject, nil)
    }
}
