// What a policy says of ages and amounts, in the units in which a cache counts.

import RPCWire

struct CacheLimits: Sendable {
    /// Nanoseconds.
    var freshFor: Int64
    var staleFor: Int64
    var entries: Int
    /// Of a file.
    var bytes: Int

    init(_ policy: CachePolicy) {
        freshFor = policy.freshFor.nanoseconds
        staleFor = policy.staleFor.nanoseconds
        entries = max(0, policy.maximumEntries)
        bytes = max(0, policy.maximumBytes)
    }
}
