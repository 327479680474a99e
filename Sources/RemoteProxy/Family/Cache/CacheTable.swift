// What a cache has, how old it is and what has to go: results that somebody has asked for, and records from a file that
// nobody has yet. Times come in: by the wall clock for ages, which outlive the process, and by the monotonic one for
// pauses. Part of its owner's locked state.

import RPCWire

struct CacheTable {
    enum Found {
        case nothing
        /// As good as new, or nothing is to be fetched for it at present.
        case fresh(any CachedResult)
        /// To be shown while a new one is fetched.
        case stale(any CachedResult)
    }

    fileprivate struct Entry {
        let result: any CachedResult
        let written: Int64
        var used: Int64
        /// Nothing is fetched for it before.
        var pausedUntil: Instant?
        /// As it is in the file, as soon as it has been put into JSON for that; its times may be old.
        var record: CacheRecord?
    }

    private let limits: CacheLimits
    /// By `CacheKey.place`. Of two keys with the same place only one has a result here: rare enough, and no harm.
    private var entries: [Int: Entry] = [:]
    private(set) var unread: CacheRecords
    /// The latest time of use. Two uses never have the same.
    private var lastUse = Int64.min

    init(_ limits: CacheLimits) {
        self.limits = limits
        unread = CacheRecords(limits)
    }

    var count: Int { entries.count + unread.count }

    subscript(key: CacheKey) -> (any CachedResult)? {
        guard let result = entries[key.place]?.result, result.key == key else { return nil }
        return result
    }

    /// What is in the place; whether it is what was looked for, its key tells.
    mutating func find(at place: Int, _ time: Int64, _ now: () -> Instant) -> Found {
        guard let index = entries.index(forKey: place) else { return .nothing }
        let use = nextUse(time)
        return entries.values[index].used(at: use, time, limits, now)
    }

    /// Keeps what has just come.
    mutating func store(_ result: any CachedResult, at time: Int64) {
        entries[result.key.place] = Entry(result: result, written: time, used: nextUse(time))
        trim()
    }

    /// The same as a record, now that somebody has asked for it.
    mutating func adopt(_ result: any CachedResult, from record: CacheRecord) {
        guard let record = unread.remove(record.key) else { return }
        entries[result.key.place] = Entry(
            result: result, written: record.written, used: record.used, record: record)
    }

    /// A record that is no result.
    mutating func forget(_ record: CacheRecord) { unread.remove(record.key) }

    mutating func pause(_ key: CacheKey, until instant: Instant) {
        if self[key] != nil { entries[key.place]?.pausedUntil = instant }
    }

    private mutating func nextUse(_ time: Int64) -> Int64 {
        lastUse = lastUse == .max ? .max : max(time, lastUse + 1)
        return lastUse
    }

    /// Lets go of those that were used longest ago. Those of a file that nobody has asked for in this process are older
    /// than all others. Of many a tenth more than needed, so that the search is shared by all that come in their places.
    private mutating func trim() {
        guard count > limits.entries else { return }
        let room = limits.entries - limits.entries / 10
        unread.trim(to: max(0, room - entries.count))
        guard entries.count > limits.entries else { return }
        for (place, _) in entries.sorted(by: { $0.value.used < $1.value.used }).prefix(entries.count - room) {
            entries[place] = nil
        }
    }
}

extension CacheTable.Entry {
    fileprivate mutating func used(
        at use: Int64, _ time: Int64, _ limits: CacheLimits, _ now: () -> Instant
    ) -> CacheTable.Found {
        used = use
        let (age, overflow) = time.subtractingReportingOverflow(written)
        // From the future: the clock has been set back since, and the age is anybody's guess.
        guard age >= 0, !overflow else { return .stale(result) }
        if age < limits.freshFor { return .fresh(result) }
        guard age - limits.freshFor < limits.staleFor else { return .nothing }
        if let pausedUntil, now() < pausedUntil { return .fresh(result) }
        return .stale(result)
    }
}

// MARK: the file

extension CacheTable {
    /// What has yet to be put into JSON for the file.
    var unfiled: [any CachedResult] { entries.values.filter { $0.record == nil }.map(\.result) }

    mutating func file(_ result: any CachedResult, as key: CacheRecord.Key, _ json: Bytes) {
        let place = result.key.place
        guard let entry = entries[place], entry.result === result else { return }
        entries[place]?.record = CacheRecord(key: key, json: json, written: entry.written, used: entry.used)
    }

    /// All that can be written.
    var records: [CacheRecord] {
        entries.values.compactMap { entry in
            var record = entry.record
            record?.used = entry.used
            return record
        } + unread.all
    }

    /// Takes over what others have written; of two results for one key the later one.
    mutating func merge(_ records: [CacheRecord], at time: Int64) {
        guard !records.isEmpty else { return }
        let own = entries.reduce(into: [CacheRecord.Key: Int]()) { places, entry in
            if let key = entry.value.record?.key { places[key] = entry.key }
        }
        let others = records.filter { record in
            guard let place = own[record.key], let entry = entries[place] else { return true }
            guard record.written > entry.written, record.written <= time else { return false }
            entries[place] = nil
            return true
        }
        unread.merge(others, at: time)
        lastUse = max(lastUse, others.map { min($0.used, time) }.max() ?? lastUse)
        trim()
    }

    /// Lets go of what the file has no room for.
    mutating func drop(_ keys: Set<CacheRecord.Key>) {
        guard !keys.isEmpty else { return }
        for (place, entry) in entries {
            if let key = entry.record?.key, keys.contains(key) { entries[place] = nil }
        }
        for key in keys { unread.remove(key) }
    }
}
