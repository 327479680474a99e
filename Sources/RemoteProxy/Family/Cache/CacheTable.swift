// The results that a cache has in memory: how old they are, and which have to go.

import RPCWire

/// Results by their places. Times are those of the wall clock, since ages outlive the process.
struct CacheTable {
    private struct Entry {
        let result: any CachedResult
        let written: Int64
        var used: Int64
        /// The name of its record. Nil until it has been put into one.
        var name: String?
    }

    private let freshFor: Int64
    private let staleFor: Int64
    private let maximumEntries: Int
    /// By `CacheKey.place`. Of two results with the same place only one is here.
    private var entries: [Int: Entry] = [:]
    /// The latest time of use. Two uses never have the same.
    private var lastUse = Int64.min

    init(_ policy: CachePolicy) {
        freshFor = policy.freshFor.nanoseconds
        staleFor = policy.staleFor.nanoseconds
        maximumEntries = max(0, policy.maximumEntries)
    }

    var count: Int { entries.count }

    /// The result in the place, which may be another's, however old it is.
    subscript(place: Int) -> (any CachedResult)? { entries[place]?.result }

    /// The result in the place if it may be shown, and whether it is as good as new.
    mutating func find(at place: Int, _ time: Int64) -> (result: any CachedResult, isFresh: Bool)? {
        guard let index = entries.index(forKey: place) else { return nil }
        entries.values[index].used = nextUse(time)
        let entry = entries.values[index]
        let (age, overflow) = time.subtractingReportingOverflow(entry.written)
        // A time in the future: the clock has been set back since, and the age is unknown.
        guard age >= 0, !overflow else { return (entry.result, false) }
        if age < freshFor { return (entry.result, true) }
        return age - freshFor < staleFor ? (entry.result, false) : nil
    }

    /// Keeps a result.
    /// - Parameter record: the record that it was read from, unless it has just come.
    mutating func store(_ result: any CachedResult, from record: CacheRecord? = nil, at time: Int64) {
        entries[result.key.place] = Entry(
            result: result, written: record?.written ?? time, used: nextUse(time), name: record?.name)
        guard count > maximumEntries else { return }
        // A tenth more is removed than has to be, so that the next results need no search.
        let surplus = count - (maximumEntries - maximumEntries / 10)
        for (place, _) in entries.sorted(by: { $0.value.used < $1.value.used }).prefix(surplus) { entries[place] = nil }
    }

    private mutating func nextUse(_ time: Int64) -> Int64 {
        lastUse = lastUse == .max ? .max : max(time, lastUse + 1)
        return lastUse
    }

    // MARK: the file

    /// The results that have not been put into records.
    var unnamed: [any CachedResult] { entries.values.filter { $0.name == nil }.map(\.result) }

    /// Makes the record of a result, if that is still here.
    mutating func makeRecord(of result: any CachedResult, as name: String, _ json: String) -> CacheRecord? {
        let place = result.key.place
        guard let entry = entries[place], entry.result === result else { return nil }
        entries[place]?.name = name
        return CacheRecord(name: name, json: json, written: entry.written, used: entry.used)
    }

    /// When the results that have records were used.
    var uses: [(name: String, time: Int64)] {
        entries.values.compactMap { entry in entry.name.map { ($0, entry.used) } }
    }

    /// Removes the results whose records are gone, or have been replaced by later ones of other processes.
    mutating func follow(_ records: CacheRecords) {
        entries = entries.filter { _, entry in
            guard let name = entry.name else { return true }
            return records[name].map { $0.written <= entry.written } ?? false
        }
    }
}
