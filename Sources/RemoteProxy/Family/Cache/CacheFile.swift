// Reads and writes the file of a cache. A cache reads it once, at the beginning. Each write keeps the records that other
// processes have added since. The functions block: call them on a thread that may block, one at a time.

import JSONCodec
import RPCSockets
import RPCWire

struct CacheFile: Sendable {
    /// A larger file is not read.
    private static let largest = 1 << 28
    /// How long to wait for another process that is writing.
    private static let patience = Duration.seconds(2)

    private let file: ReplaceableFile
    /// Has the time of the last drop of all results, so that a drop counts from then on: the file itself is written later, and a
    /// crash may come before. It stays there, since a process that was writing meanwhile may bring older records back.
    private let lastDrop: ReplaceableFile
    private static let lengthOfTime = 20
    /// Gets each problem as a text for people.
    private let report: @Sendable (String) -> Void

    init(_ path: String, report: @escaping @Sendable (String) -> Void) {
        file = ReplaceableFile(path)
        lastDrop = ReplaceableFile(path + ".dropped")
        self.report = report
    }

    func read() -> [CacheRecord] {
        do {
            guard let contents = try file.read(atMost: Self.largest) else { return [] }
            if let records = Self.records(of: contents) { return try notDropped(records) }
            return try file.locked(patience: Self.patience) { () throws(SystemError) in try readOrSetAside() }
        } catch {
            report(
                "the cache file '\(file.path)' cannot be read, so nothing is shown from it: \(error); it has to be an "
                    + "ordinary file that this program may read")
            return []
        }
    }

    /// Notes that all results of this time and before were dropped. Takes one small write. Call it with growing times.
    func drop(at time: Int64) {
        let digits = String(max(time, 0))
        let text = Array((String(repeating: "0", count: Self.lengthOfTime - digits.utf8.count) + digits).utf8)
        do {
            if !file.path.isEmpty { try lastDrop.overwrite(with: text) }
        } catch {
            report(
                "'\(lastDrop.path)' cannot be written, so results that were dropped may come back after a crash: \(error)"
            )
        }
    }

    private func notDropped(_ records: [CacheRecord]) throws(SystemError) -> [CacheRecord] {
        guard let text = try lastDrop.read(atMost: Self.lengthOfTime) else { return records }
        // One that cannot be read was being written.
        guard let time = Int64(String(decoding: text, as: UTF8.self)) else { return [] }
        return records.filter { $0.written >= time }
    }

    /// Writes these records, and those in the file that are later or have other names.
    /// - Parameter clock: read under the file's lock. Otherwise a record that another process writes meanwhile could seem to be
    ///   from the future.
    /// - Returns: all records that are now in the file; nil if nothing was written.
    func write(_ records: CacheRecords, clock: () -> Int64) -> CacheRecords? {
        do {
            return try file.locked(patience: Self.patience) { () throws(SystemError) in
                let found = try readOrSetAside()
                var kept = records
                kept.merge(found, at: clock())
                try file.replace(with: Self.contents(of: kept.all))
                return kept
            }
        } catch {
            report(
                "the cache file '\(file.path)' cannot be written, so the next launch will not have what this one has seen: "
                    + "\(error); its folder has to be there and open to this program")
            return nil
        }
    }

    /// Needs the lock: otherwise another process could replace a damaged file just before this one sets it aside.
    private func readOrSetAside() throws(SystemError) -> [CacheRecord] {
        guard let contents = try file.read(atMost: Self.largest) else { return [] }
        if let records = Self.records(of: contents) { return try notDropped(records) }
        let aside = file.path + ".aside"
        try file.setAside(as: aside)
        report("the cache file '\(file.path)' was set aside as '\(aside)': it is damaged, or is no cache")
        return []
    }

    // MARK: the contents: a line that names the file and has a checksum of the rest, which is JSON

    private static let headLength = head(of: []).count

    static func contents(of records: [CacheRecord]) -> [UInt8] {
        let output = JSONOutput()
        // Strings and integers cannot fail to encode.
        try? output.encode(records)
        return head(of: output.bytes) + output.bytes
    }

    /// Returns nil if the contents are damaged, or are not those of a cache.
    static func records(of contents: [UInt8]) -> [CacheRecord]? {
        // The file was made, but never written to.
        if contents.isEmpty { return [] }
        let body = contents.dropFirst(headLength)
        guard contents.starts(with: head(of: body)) else { return nil }
        return try? body.withUnsafeBytes { try decodeJSON([CacheRecord].self, from: $0) }
    }

    /// The checksum is FNV-1a. It detects accidents. It does not stop a forger, which can compute it too.
    private static func head(of body: some Sequence<UInt8>) -> [UInt8] {
        let sum = body.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        // The bit set makes the checksum the same length every time.
        return Array("RemoteProxy cache \(String(sum | 1 << 63, radix: 16))\n".utf8)
    }
}
