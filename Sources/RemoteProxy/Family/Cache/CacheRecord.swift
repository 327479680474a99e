// The results in the file of a cache: JSON, each under its name.

/// One result in the file of a cache.
struct CacheRecord: Sendable, Codable {
    /// `Service.method`, followed by the arguments as canonical JSON.
    let name: String
    let json: String
    /// When the object returned it, in nanoseconds of the wall clock.
    var written: Int64
    /// When a call last asked for it.
    var used: Int64

    /// The name without the arguments.
    var method: Substring { name.prefix { $0 != "[" } }

    /// The bytes that count towards `maximumBytes`.
    var size: Int { name.utf8.count + json.utf8.count }
}

/// Records by their names, within the limits of a policy.
struct CacheRecords: Sendable {
    private let maximumEntries: Int
    private let maximumBytes: Int
    private var records: [String: CacheRecord] = [:]
    /// When the records of a method were dropped, by `CacheRecord.method`. Older ones that other processes have written stay out.
    private var drops: [Substring: Int64] = [:]
    private(set) var bytes = 0

    init(_ policy: CachePolicy) {
        maximumEntries = max(0, policy.maximumEntries)
        maximumBytes = max(0, policy.maximumBytes)
    }

    var all: [CacheRecord] { Array(records.values) }

    subscript(name: String) -> CacheRecord? { records[name] }

    /// Adds records that fit. Of two records with the same name the later one stays.
    mutating func merge(_ others: some Sequence<CacheRecord>, at time: Int64) {
        for var record in others where record.size <= maximumBytes {
            // Written in the future: the clock has been set back since. The record then counts as older than any other.
            if record.written > time { record.written = .min }
            if let drop = drops[record.method], record.written < drop { continue }
            if let own = records[record.name], own.written >= record.written { continue }
            record.used = min(record.used, time)
            remove(record.name)
            records[record.name] = record
            bytes += record.size
        }
        trim()
    }

    /// Removes all records of a method that were written up to this time.
    mutating func drop(_ method: Substring, at time: Int64) {
        drops[method] = time
        for record in records.values where record.method == method && record.written <= time { remove(record.name) }
    }

    /// Drops what was dropped from others meanwhile.
    mutating func follow(_ others: CacheRecords) {
        for (method, time) in others.drops where drops[method] != time { drop(method, at: time) }
    }

    /// Notes that a record was asked for.
    mutating func use(_ name: String, at time: Int64) { records[name]?.used = time }

    mutating func remove(_ name: String) {
        if let record = records.removeValue(forKey: name) { bytes -= record.size }
    }

    /// Removes the records that were used longest ago.
    private mutating func trim() {
        guard isOverfull else { return }
        for record in records.values.sorted(by: { $0.used < $1.used }) where isOverfull { remove(record.name) }
    }

    private var isOverfull: Bool { records.count > maximumEntries || bytes > maximumBytes }
}
