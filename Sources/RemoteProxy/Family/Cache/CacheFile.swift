// The file of a cache: read at the beginning, and written together with what other processes have put there meanwhile.
// Blocks, so it is used on a thread that may; one piece of work at a time.

import RPCSockets
import RPCWire

final class CacheFile: Sendable {
    /// What became of reading or writing: the results that were found, and what went wrong, for people.
    struct Outcome: Sendable {
        var found: [CacheRecord] = []
        /// Of those that were to be written, the ones that there was no room for.
        var dropped: Set<CacheRecord.Key> = []
        var problem: String?
        /// Whether what was to be written is there.
        var isWritten = false
    }

    /// More than any cache should have; what is larger is not ours to read.
    private static let largest = 1 << 28
    /// How long to wait for another process that is writing.
    private static let patience = Duration.seconds(2)

    private let file: ReplaceableFile
    /// Tells what was last read or written here.
    private let seen = Lock<UInt64?>(nil)

    init(_ path: String) { file = ReplaceableFile(path) }

    func read() -> Outcome {
        do {
            guard let contents = try file.read(atMost: Self.largest) else { return Outcome() }
            do {
                return Outcome(found: try records(in: contents))
            } catch {
                return try file.locked(patience: Self.patience) { () throws(SystemError) in try readOrSetAside() }
            }
        } catch {
            return Outcome(
                problem:
                    "the cache file '\(file.path)' cannot be read, so nothing is shown from it: \(error); it has to be an "
                    + "ordinary file that this program may read")
        }
    }

    /// Writes the results, and those found in the file that are later or others.
    /// - Parameter clock: Read when nobody else writes any more, or what came while this one waited would seem to be from
    ///   the future.
    func write(_ records: [CacheRecord], _ limits: CacheLimits, clock: () -> Int64) -> Outcome {
        do {
            return try file.locked(patience: Self.patience) { () throws(SystemError) in
                var outcome = try readOrSetAside()
                let time = clock()
                var kept = CacheRecords(limits)
                kept.merge(outcome.found + records, at: time)
                outcome.dropped = Set(records.map(\.key).filter { kept[$0] == nil })
                let contents = CacheFormat.encode(kept.all)
                try file.replace(with: contents)
                seen.withLock { $0 = CacheFormat.fingerprint(of: contents) }
                outcome.isWritten = true
                return outcome
            }
        } catch {
            return Outcome(
                problem:
                    "the cache file '\(file.path)' cannot be written, so the next launch will not have what this one "
                    + "has seen: \(error); its folder has to be there and open to this program")
        }
    }

    /// Under the lock, or what another process has just made good would be set aside.
    private func readOrSetAside() throws(SystemError) -> Outcome {
        guard let contents = try file.read(atMost: Self.largest) else { return Outcome() }
        if let last = seen.withLock({ $0 }), last == CacheFormat.fingerprint(of: contents) { return Outcome() }
        do {
            return Outcome(found: try records(in: contents))
        } catch {
            let aside = file.path + ".aside"
            try file.setAside(as: aside)
            return Outcome(problem: "the cache file '\(file.path)' was set aside as '\(aside)': \(error)")
        }
    }

    private func records(in contents: [UInt8]) throws(CacheFormat.Fault) -> [CacheRecord] {
        let records = try CacheFormat.decode(contents)
        seen.withLock { $0 = CacheFormat.fingerprint(of: contents) }
        return records
    }
}
