// What goes on on one loop of a server, counted. Written by that loop alone, so that counting costs a load and a store and no
// cache line ever moves for it; read by anybody, above all by `Traffic`, which adds all loops up.

package import RPCWire
import Synchronization

package final class LoopTally: Sendable {
    let calls = Atomic(0)
    let running = Atomic(0)
    let bytes = Atomic(0)
    /// Of requests that wait with their connections.
    let waitingBytes = Atomic(0)
    private let busyHere = Atomic(0)
    private let busyInAll = Atomic(0)
    private let fullHere = Atomic(0)
    private let fullInAll = Atomic(0)
    private let busyLine = Atomic(0)
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

    /// A request was refused because as many were running as may, on its connection or on all together, or because too
    /// many were waiting. A flood is refused here, so this counts like calls.
    package func wasBusy(_ limit: Limit) {
        switch limit {
        case .maximumRequestsInAll: add(1, to: busyInAll)
        case .maximumBytesInFlight: add(1, to: fullHere)
        case .maximumBytesInAll: add(1, to: fullInAll)
        case .maximumWait: add(1, to: busyLine)
        default: add(1, to: busyHere)
        }
    }

    /// How often each limit was run into here.
    var overruns: [(limit: Limit, number: Int)] {
        [
            (.maximumRequestsInFlight, busyHere.load(ordering: .relaxed)),
            (.maximumRequestsInAll, busyInAll.load(ordering: .relaxed)),
            (.maximumBytesInFlight, fullHere.load(ordering: .relaxed)),
            (.maximumBytesInAll, fullInAll.load(ordering: .relaxed)),
            (.maximumWait, busyLine.load(ordering: .relaxed)),
        ]
    }

    @inline(__always)
    private func add(_ number: Int, to counter: borrowing Atomic<Int>) {
        counter.store(counter.load(ordering: .relaxed) &+ number, ordering: .relaxed)
    }
}
