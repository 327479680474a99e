// How long calls took, counted into buckets: a fixed table, so that counting allocates nothing and sorts nothing.

import RawEcho

/// A histogram of nanoseconds. Each caller has its own; they are added up when all have ended.
struct Latencies: Sendable {
    private(set) var counts = [UInt32](repeating: 0, count: Int(histogram_buckets))
    /// Calls between those that were timed.
    private(set) var untimed = 0

    mutating func add(_ nanoseconds: UInt64) {
        counts[Int(histogram_bucket(nanoseconds))] &+= 1
    }

    mutating func addUntimed(_ calls: Int) { untimed += calls }

    mutating func add(_ others: Latencies) {
        for index in counts.indices { counts[index] &+= others.counts[index] }
        untimed += others.untimed
    }

    mutating func withCounts<Result>(_ body: (UnsafeMutablePointer<UInt32>?) -> Result) -> Result {
        counts.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }

    /// All calls.
    var calls: Int { total + untimed }

    /// Those that were timed.
    var total: Int { counts.reduce(0) { $0 + Int($1) } }

    /// The time, in microseconds, that this share of the calls did not exceed.
    func percentile(_ share: Double) -> Double {
        let wanted = max(1, Int((Double(total) * share).rounded(.up)))
        var seen = 0
        for (bucket, count) in counts.enumerated() {
            seen += Int(count)
            if seen >= wanted { return histogram_value(UInt32(bucket)) / 1_000 }
        }
        return 0
    }
}
