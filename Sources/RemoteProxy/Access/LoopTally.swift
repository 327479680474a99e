// Counts the events on one loop of a server. Only that loop writes here. So counting costs a load and a store, and no cache
// line moves between threads. Any thread may read, above all `Traffic`, which adds up all loops.

package import RPCWire
import Synchronization

/// The counts of one loop.
package final class LoopTally: Sendable {
    let calls = Atomic(0)
    let running = Atomic(0)
    let bytes = Atomic(0)
    /// The bytes of requests that wait with their connections.
    let waitingBytes = Atomic(0)
    /// The limits by which a flood is refused: as frequent as calls, so counted here. `Traffic` counts all others.
    private static let floodLimits: [Limit] = [
        .maximumRequestsInFlight, .maximumRequestsInAll, .maximumBytesInFlight, .maximumBytesInAll, .maximumWait,
    ]
    private let refused = InlineArray<5, Atomic<Int>> { _ in Atomic(0) }
    /// How many requests the loop may run, and how many bytes it may hold, without regard to the other loops.
    let share: Int
    let byteShare: Int

    init(share: Int, byteShare: Int) {
        self.share = share
        self.byteShare = byteShare
    }

    /// Whether the loop is below its share. Asked for every message; true unless the server is busy.
    var isBelowItsShare: Bool {
        running.load(ordering: .relaxed) < share && bytes.load(ordering: .relaxed) < byteShare
    }

    package func began() {
        add(1, to: calls)
        add(1, to: running)
    }

    package func ended() { add(-1, to: running) }

    /// Counts that the requests of a session hold more bytes than before, or fewer.
    package func holds(_ change: Int) { add(change, to: bytes) }

    /// Counts that requests which wait with their connection take more bytes than before, or fewer.
    func waits(_ change: Int) { add(change, to: waitingBytes) }

    /// Counts a request that was refused for a limit.
    package func wasBusy(_ limit: Limit) {
        guard let index = Self.floodLimits.firstIndex(of: limit) else { return }
        add(1, to: refused[index])
    }

    /// How often each of these limits was overrun here.
    var overruns: [(limit: Limit, number: Int)] {
        Self.floodLimits.indices.map { (Self.floodLimits[$0], refused[$0].load(ordering: .relaxed)) }
    }

    @inline(__always)
    private func add(_ number: Int, to counter: borrowing Atomic<Int>) {
        counter.store(counter.load(ordering: .relaxed) &+ number, ordering: .relaxed)
    }
}
