// Counts the events on one loop of a server. Only that loop writes here. So counting costs a load and a store, and no cache
// line moves between threads. Any thread may read, above all `Traffic`, which adds up all loops.

package import RPCWire
import Synchronization

/// The counts of one loop.
package final class LoopTally: Sendable {
    let calls = Atomic(0)
    let running = Atomic(0)
    /// The limits by which a flood is refused: as frequent as calls, so counted here. `Traffic` counts all others.
    private static let floodLimits: [Limit] = [
        .maximumRequestsInFlight, .maximumRequestsInAll, .maximumBytesInFlight, .maximumBytesInAll, .maximumWait,
    ]
    private let refused = floodLimits.map { _ in Count() }
    /// How many requests the loop may run without regard to the other loops.
    let share: Int

    init(share: Int) { self.share = share }

    /// Whether the loop is below its share. Asked for every message; true unless the server is busy.
    var isBelowItsShare: Bool { running.load(ordering: .relaxed) < share }

    /// Counts a request that has been admitted.
    func admitted() { add(1, to: calls) }

    /// Counts requests that run, or are in the line for a worker: one more, or one less.
    package func runs(_ change: Int) { add(change, to: running) }

    /// Counts a request that was refused for a limit.
    package func wasBusy(_ limit: Limit) {
        guard let index = Self.floodLimits.firstIndex(of: limit) else { return }
        add(1, to: refused[index].number)
    }

    /// How often each of these limits was overrun here.
    var overruns: [(limit: Limit, number: Int)] {
        Self.floodLimits.indices.map { (Self.floodLimits[$0], refused[$0].number.load(ordering: .relaxed)) }
    }

    @inline(__always)
    private func add(_ number: Int, to counter: borrowing Atomic<Int>) {
        counter.store(counter.load(ordering: .relaxed) &+ number, ordering: .relaxed)
    }

    /// An array can hold references to counts, but no atomic values.
    private final class Count: Sendable {
        let number = Atomic(0)
    }
}
