// Asks the server's process how much it allocates: the bench's own service, hosted beside the measured ones.

import BenchSystem
import RemoteProxy

/// Tells about the process that hosts it. Not internal, for the reason given at `LetterBox`.
@Service
@usableFromInline
protocol Meter: Sendable {
    /// Starts or stops counting; returns how many allocations have been counted so far.
    func allocations(counting: Bool) async throws -> Int
}

struct ProcessMeter: Meter {
    @usableFromInline
    func allocations(counting: Bool) async throws -> Int {
        bench_count_allocations(counting ? 1 : 0)
        return Int(bench_allocations())
    }
}
