// What goes on on one loop of a server, counted. Only that loop writes here, so counting costs a load and a store and no cache
// line moves for it. Any thread reads, above all `Traffic`, which adds all loops up.

package import RPCWire
import Synchronization

/// The counts of one loop.
package final class LoopTally: Sendable {
    let calls = Atomic(0)
    let running = Atomic(0)
    let bytes = Atomic(0)
    /// Of requests that wait with their connections.
    let waitingBytes = Atomic(0)
    /// The limits by which a flood is refused, which is counted like calls. All others are counted by `Traffic`.
    private static let floodLimits: [Limit] = [
        .maximumRequestsInFlight, .maximumRequestsInAll, .maximumBytesInFlight, .maximumBytesInAll, .maximumWait,
    ]
    private let refused = InlineArray<5, Atomic<Int>> { _ in Atomic(0) }
    /// What the loop may run, and hold, without a look at the others.
    let share: Int
    let byteShare: Int

    init(share: Int, byteShare: Int) {
        self.share = share
        self.byteShare = byteShare
    }

    /// Asked for every message, and nearly always so.
    var isBelowItsShare: Bool {
        running.load(ordering: .relaxed) < share && bytes.load(ordering: .relaxed) < byteShare
    }

    package func began() {
        add(1, to: calls)
        add(1, to: running)
    }

    package func ended() { add(-1, to: running) }

    /// The requests of a session hold more than it has said before, or less.
    package func holds(_ change: Int) { add(change, to: bytes) }

    /// Requests that wait with their connection take so many bytes more, or less.
    func waits(_ change: Int) { add(change, to: waitingBytes) }

    /// A request was refused for a limit.
    package func wasBusy(_ limit: Limit) {
        guard let index = Self.floodLimits.firstIndex(of: limit) else { return }
        add(1, to: refused[index])
    }

    /// How often each limit was run into here.
    var overruns: [(limit: Limit, number: Int)] {
        Self.floodLimits.indices.map { (Self.floodLimits[$0], refused[$0].load(ordering: .relaxed)) }
    }

    @inline(__always)
    private func add(_ number: Int, to counter: borrowing Atomic<Int>) {
        counter.store(counter.load(ordering: .relaxed) &+ number, ordering: .relaxed)
    }
}
