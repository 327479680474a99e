// Records by their keys, no more than there may be: what a file has, and what has been read from one and not been asked
// for yet. Times come in, by the wall clock. Part of its owner's locked state.

struct CacheRecords {
    private let limits: CacheLimits
    private var records: [CacheRecord.Key: CacheRecord] = [:]
    private(set) var bytes = 0

    init(_ limits: CacheLimits) { self.limits = limits }

    var count: Int { records.count }
    var isEmpty: Bool { records.isEmpty }
    var all: some Collection<CacheRecord> { records.values }

    subscript(key: CacheRecord.Key) -> CacheRecord? { records[key] }

    /// Takes over what others have kept; of two results for one key the later one.
    mutating func merge(_ others: some Sequence<CacheRecord>, at time: Int64) {
        for var record in others where record.size <= limits.bytes {
            // From the future: the clock has been set back since. Anything that comes now is later.
            if record.written > time { record.written = .min }
            if let own = records[record.key], own.written >= record.written { continue }
            record.used = min(record.used, time)
            remove(record.key)
            records[record.key] = record
            bytes += record.size
        }
        trim(to: limits.entries)
    }

    @discardableResult
    mutating func remove(_ key: CacheRecord.Key) -> CacheRecord? {
        guard let record = records.removeValue(forKey: key) else { return nil }
        bytes -= record.size
        return record
    }

    /// Lets go of those that were used longest ago. Of many a tenth more than needed, so that the search for them is
    /// shared by all that come in their places.
    mutating func trim(to entries: Int) {
        guard count > entries || bytes > limits.bytes else { return }
        let room = (entries: entries - entries / 10, bytes: limits.bytes - limits.bytes / 10)
        for record in records.values.sorted(by: { $0.used < $1.used }) {
            let isOver = count > entries || bytes > limits.bytes
            let hasNoRoom = count > room.entries || bytes > room.bytes
            guard isOver || (hasNoRoom && count > 1) else { return }
            remove(record.key)
        }
    }
}
