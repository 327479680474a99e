// The settings of a cache: where it keeps results, how old they may be, and how many it keeps.

import RPCSockets
import RPCWire

/// Where a cache keeps results.
public enum CachePlace: Sendable, Hashable {
    /// In this process, until the last copy of the proxy is gone.
    case memory
    /// In memory and in the file at this path, for the next launch. The folder must be there. Several processes may
    /// share a file; each object needs one of its own, since results are told apart by service, method and arguments.
    ///
    /// Beside the file stand one that ends in `.lock` and, if it could not be read, what was found there, which ends in
    /// `.aside`.
    case file(String)
}

/// How long a cache shows what it has, and how much it keeps. All have defaults.
public struct CachePolicy: Sendable {
    /// How long a result is as good as a new one: shown without asking again. Zero: shown, and asked for again each time.
    public var freshFor: Duration = .zero
    /// How long after that it is still shown at once, while a new one is fetched for the next time. Older ones are not
    /// shown: the call waits for a new one.
    public var staleFor: Duration = .seconds(30 * 24 * 60 * 60)
    /// How many results are kept; of more, those that were used last.
    public var maximumEntries = 1_000
    /// How many bytes the results in a file may have all together, as JSON with their names and arguments; of more, those
    /// that were used last. A result that is larger by itself is not kept, and the log says so. In `.memory` only
    /// `maximumEntries` counts.
    public var maximumBytes = 16 * 1_024 * 1_024
    /// How long fetching a result may take. A call that waits for it may have less time.
    public var refreshTimeout: Duration = .seconds(30)
    /// How many results are fetched at the same time behind callers that have been given an older one.
    public var maximumRefreshes = 16
    /// How long nothing is fetched behind callers after that has failed, so that a server in trouble is left alone.
    public var pauseAfterFailure: Duration = .seconds(1)
    /// How long the file is left alone after it has been written.
    public var pauseAfterWriting: Duration = .seconds(1)
    /// Gets what went wrong with the file, and what cannot be cached at all, in words for people. Calls never fail because of
    /// that. The default writes to standard error.
    public var log: @Sendable (String) -> Void = LogStream.log

    /// The defaults.
    public init() {}

    /// The defaults, but for how long results are shown.
    public init(freshFor: Duration, staleFor: Duration = CachePolicy().staleFor) {
        self.freshFor = freshFor
        self.staleFor = staleFor
    }
}
