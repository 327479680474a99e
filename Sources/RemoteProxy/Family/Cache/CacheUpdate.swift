// What a cache tells those who watch one of its results.

/// What became of fetching a result.
public enum CacheUpdate<Result: Sendable>: Sendable {
    /// It has come from the real object, and is what callers get from now on.
    case refreshed(Result)
    /// It could not be fetched, for this reason; callers go on getting the one they have seen.
    case stale(Result, any Error)

    /// What callers get now.
    public var value: Result {
        switch self {
        case .refreshed(let value), .stale(let value, _): value
        }
    }
}

/// The same before anybody has looked at its type.
enum CacheNews: Sendable {
    case refreshed(any CachedResult)
    case stale(any CachedResult, any Error)
}
