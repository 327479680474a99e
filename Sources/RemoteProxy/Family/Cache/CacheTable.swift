// Holds the results that a cache has in memory: knows how old they are, and removes those used longest ago.

import RPCWire

/// Results by their places. Times are those of the wall clock, because results may be older than the process.
struct CacheTable {
    private struct Entry {
        let result: any CachedResult
        let written: Int64
        var used: Int64
        /// The name of its record; nil until the result has been encoded as one.
        var name: String?

        mutating func use(at time: Int64) -> (result: any CachedResult, written: Int64) {
            used = time
            return (result, written)
        }
    }

    private let freshFor: Int64
    private let staleFor: Int64
    private let maximumEntries: Int
    private let maximumBytes: Int
    /// By `CacheKey.place`. If two results have the same place, only the later one is kept.
    private var entries: [Int: Entry] = [:]
    /// What the results count for together.
    private var bytes = 0
    /// The latest time of use. No two uses have the same time.
    private var lastUse = Int64.min

    init(_ policy: CachePolicy) {
        freshFor = policy.freshFor.nanoseconds
        staleFor = policy.staleFor.nanoseconds
        maximumEntries = max(0, policy.maximumEntries)
        maximumBytes = max(0, policy.maximumBytes)
    }

    var count: Int { entries.count }

    /// The result at this place, however old. It may belong to another key with the same place.
    subscript(place: Int) -> (any CachedResult)? { entries[place]?.result }

    /// Returns the result at this place, if a call may return it, and whether it is fresh.
    mutating func find(at place: Int, _ time: Int64) -> (result: any CachedResult, isFresh: Bool)? {
        guard let index = entries.index(forKey: place) else { return nil }
        let use = nextUse(time)
        let (result, written) = entries.values[index].use(at: use)
        let (age, overflow) = time.subtractingReportingOverflow(written)
        // Written in the future: the clock has been set back since, so the age is unknown.
        guard age >= 0, !overflow else { return (result, false) }
        if age < freshFor { return (result, true) }
        return age - freshFor < staleFor ? (result, false) : nil
    }

    /// Stores a result, if there is room for it, in place of an earlier one.
    /// - Parameter record: the record that it was decoded from; nil if it has just been fetched.
    mutating func store(_ result: any CachedResult, from record: CacheRecord? = nil, at time: Int64) {
        remove(result.key.place)
        guard result.hasRoom, result.bytes <= maximumBytes else { return }
        bytes += result.bytes
        entries[result.key.place] = Entry(
            result: result, written: record?.written ?? time, used: nextUse(time), name: record?.name)
        trim()
    }

    /// Removes the results that were used longest ago. Removes a tenth more than it must, so that the next results need no search.
    private mutating func trim() {
        guard count > maximumEntries || bytes > maximumBytes else { return }
        for (place, _) in entries.sorted(by: { $0.value.used < $1.value.used }) {
            if count <= maximumEntries - maximumEntries / 10, bytes <= maximumBytes - maximumBytes / 10 { return }
            remove(place)
        }
    }

    private mutating func remove(_ place: Int) { bytes -= entries.removeValue(forKey: place)?.result.bytes ?? 0 }

    private mutating func keep(_ isKept: (Entry) -> Bool) {
        entries = entries.filter { isKept($0.value) }
        bytes = entries.values.reduce(0) { $0 + $1.result.bytes }
    }

    /// Removes all results of one method.
    mutating func removeAll(of method: Int) { keep { $0.result.key.method != method } }

    private mutating func nextUse(_ time: Int64) -> Int64 {
        lastUse = lastUse == .max ? .max : max(time, lastUse + 1)
        return lastUse
    }

    // MARK: the file

    /// The results that have no records yet.
    var unnamed: [any CachedResult] { entries.values.filter { $0.name == nil }.map(\.result) }

    /// Makes the record of a result, if the table still holds it.
    mutating func makeRecord(of result: any CachedResult, as name: String, _ json: String) -> CacheRecord? {
        let place = result.key.place
        guard let entry = entries[place], entry.result === result else { return nil }
        entries[place]?.name = name
        return CacheRecord(name: name, json: json, written: entry.written, used: entry.used)
    }

    /// When each result that has a record was last used.
    var uses: [(name: String, time: Int64)] {
        entries.values.compactMap { entry in entry.name.map { ($0, entry.used) } }
    }

    /// Removes each result whose record was removed, or was replaced by a later one from another process.
    mutating func follow(_ records: CacheRecords) {
        keep { entry in
            guard let name = entry.name else { return true }
            return records[name].map { $0.written <= entry.written } ?? false
        }
    }
}
