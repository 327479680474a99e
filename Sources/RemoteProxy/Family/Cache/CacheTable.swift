// What a cache has, how old it is and what has to go. Times come in: by the wall clock for ages, which outlive the
// process, and by the monotonic one for pauses. Part of its owner's locked state.

import RPCWire

/// One result with its times, in nanoseconds of the wall clock.
struct CacheRecord: Sendable {
    let key: CacheKey
    var value: any CachedValue
    /// When it came from the real object.
    var written: Int64
    /// When it was last asked for.
    var used: Int64

    /// What it counts for. The strings' lengths come from this process or from a file that was held in memory.
    var size: Int { key.method.utf8.count + key.arguments.utf8.count + value.json.count }
}

struct CacheTable {
    struct Limits {
        var freshFor: Int64
        var staleFor: Int64
        var entries: Int
        var bytes: Int

        init(_ policy: CachePolicy) {
            freshFor = policy.freshFor.nanoseconds
            staleFor = policy.staleFor.nanoseconds
            entries = policy.maximumEntries
            bytes = policy.maximumBytes
        }
    }

    enum Found {
        case nothing
        /// As good as new, or nothing is to be fetched for it at present.
        case fresh(any CachedValue)
        /// To be shown while a new one is fetched.
        case stale(any CachedValue)
    }

    private struct Entry {
        var record: CacheRecord
        /// Nothing is fetched for it before.
        var pausedUntil: Instant?
    }

    private let limits: Limits
    private var entries: [CacheKey: Entry] = [:]
    private(set) var bytes = 0
    /// The latest time of use. Two uses never have the same.
    private var lastUse = Int64.min

    init(_ limits: Limits) { self.limits = limits }

    var count: Int { entries.count }
    var records: [CacheRecord] { entries.values.map(\.record) }

    subscript(key: CacheKey) -> (any CachedValue)? { entries[key]?.record.value }

    mutating func find(_ key: CacheKey, at time: Int64, _ now: () -> Instant) -> Found {
        guard let index = entries.index(forKey: key) else { return .nothing }
        let use = nextUse(time)
        entries.values[index].record.used = use
        let entry = entries.values[index]
        let (age, overflow) = time.subtractingReportingOverflow(entry.record.written)
        // From the future: the clock has been set back since, and the age is anybody's guess.
        guard age >= 0, !overflow else { return .stale(entry.record.value) }
        if age < limits.freshFor { return .fresh(entry.record.value) }
        guard age - limits.freshFor < limits.staleFor else { return .nothing }
        if let pausedUntil = entry.pausedUntil, now() < pausedUntil { return .fresh(entry.record.value) }
        return .stale(entry.record.value)
    }

    /// Keeps what has just come. False when it is larger than all may be together.
    mutating func store(_ value: any CachedValue, for key: CacheKey, at time: Int64) -> Bool {
        let record = CacheRecord(key: key, value: value, written: time, used: nextUse(time))
        forget(key)
        guard record.size <= limits.bytes, limits.entries > 0 else { return false }
        insert(record)
        trim()
        return true
    }

    /// The same result, in the form it was asked for.
    mutating func replace(_ old: any CachedValue, with value: any CachedValue, for key: CacheKey) {
        guard let index = entries.index(forKey: key), entries.values[index].record.value === old else { return }
        entries.values[index].record.value = value
    }

    mutating func pause(_ key: CacheKey, until instant: Instant) { entries[key]?.pausedUntil = instant }

    mutating func forget(_ key: CacheKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        bytes -= entry.record.size
    }

    /// Takes over what others have kept; of two results for one key the later one.
    mutating func merge(_ records: [CacheRecord], at time: Int64) {
        for var record in records {
            // From the future: the clock has been set back since. Anything that comes now is later.
            if record.written > time { record.written = .min }
            if let own = entries[record.key]?.record, own.written >= record.written { continue }
            record.used = min(record.used, time)
            forget(record.key)
            insert(record)
            lastUse = max(lastUse, record.used)
        }
        trim()
    }

    private mutating func insert(_ record: CacheRecord) {
        entries[record.key] = Entry(record: record)
        bytes += record.size
    }

    private mutating func nextUse(_ time: Int64) -> Int64 {
        lastUse = lastUse == .max ? .max : max(time, lastUse + 1)
        return lastUse
    }

    /// Lets go of those that were used longest ago. Of many a tenth more than needed, so that the search for them is
    /// shared by all that come in their places.
    private mutating func trim() {
        guard entries.count > limits.entries || bytes > limits.bytes else { return }
        let room = (entries: limits.entries - limits.entries / 10, bytes: limits.bytes - limits.bytes / 10)
        for record in records.sorted(by: { $0.used < $1.used }) {
            let isOver = entries.count > limits.entries || bytes > limits.bytes
            let hasNoRoom = entries.count > room.entries || bytes > room.bytes
            guard isOver || (hasNoRoom && entries.count > 1) else { return }
            forget(record.key)
        }
    }
}
