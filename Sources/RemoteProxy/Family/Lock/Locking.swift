// How a locked subject is shared: its options.

/// How `.locked` lets calls in, and what waiting for a turn may cost.
public struct Locking: Sendable {
    /// Methods marked `@ReadOnly` run side by side with each other; every other call runs alone.
    public var readersTogether = false
    /// How long a call waits for its turn when it has no deadline of its own. 30 s.
    public var timeout: Duration = .seconds(30)
    /// The longest lease that somebody may hold the subject for. 10 minutes.
    public var maximumLease: Duration = .seconds(600)
    /// How many posts are kept while others have the subject; those that come then are not delivered. 10,000.
    public var maximumKeptPosts = 10_000

    /// The defaults: one call at a time.
    public init() {}

    /// One call at a time.
    public static var oneAtATime: Locking { Locking() }

    /// One call at a time, but those of methods marked `@ReadOnly` together.
    public static var readersTogether: Locking {
        var locking = Locking()
        locking.readersTogether = true
        return locking
    }
}
