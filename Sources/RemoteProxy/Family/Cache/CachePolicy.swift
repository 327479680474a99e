// The settings of a cache: how old results may be, and how many it keeps.

import RPCSockets
import RPCWire

/// Sets how long a cache returns a result, and how many results it keeps. Every setting has a default.
public struct CachePolicy: Sendable {
    /// How long a result is fresh: returned without asking the object again. At zero every result returned is fetched again.
    public var freshFor: Duration = .zero
    /// How long after that a result is still returned at once, while a new one is fetched for the next call. For an
    /// older result the call waits until a new one has been fetched.
    public var staleFor: Duration = .seconds(24 * 60 * 60)
    /// Whether results are kept when a method that is not `@ReadOnly` is called through the same proxy. By default they
    /// are dropped when such a call has ended, unless it certainly did nothing, and when a post has been sent.
    public var keepsAfterChanges = false
    /// How many results are kept. Beyond that, those that were used longest ago are removed.
    public var maximumEntries = 1_000
    /// How many bytes the results in a file may have together, as JSON with names and arguments, and how many those in memory
    /// that peers have asked for. Beyond that, those that were used longest ago are removed. A single larger result is not
    /// kept; if there is a file, the log says so. What a server's caches have for peers counts for its `maximumBytesInAll`,
    /// and they take at most half of that.
    public var maximumBytes = 16 * 1_024 * 1_024
    /// How long fetching a result may take. A call that waits for it may have an earlier deadline.
    public var refreshTimeout: Duration = .seconds(30)
    /// How many results may be fetched at the same time in the background, for calls that returned an older one.
    package var maximumRefreshes = 16
    /// How long nothing is fetched in the background after a failure, so that a server in trouble gets fewer calls.
    package var pauseAfterFailure: Duration = .seconds(1)
    /// How long to wait after writing the file before writing it again.
    package var pauseAfterWriting: Duration = .seconds(1)
    /// Called with each problem of the file, and each result that cannot be cached. Calls never fail for these reasons. The
    /// default writes a line to standard error.
    public var log: @Sendable (LogRecord) -> Void = LogRecord.standardError

    /// The defaults.
    public init() {}

    /// The defaults, except for how long results are returned.
    public init(freshFor: Duration, staleFor: Duration = CachePolicy().staleFor) {
        self.freshFor = freshFor
        self.staleFor = staleFor
    }
}
