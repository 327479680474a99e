// What goes on at a server, counted: calls on each loop by the loop itself, all that is rare under one lock. Also what
// keeps all connections together below a number of calls.

package import RPCWire
import Synchronization

package final class Traffic: Sendable {
    /// The calls on one loop. Written by that loop alone, so that counting costs a load and a store and no cache line
    /// ever moves for it; read by anybody.
    private final class Tally: Sendable {
        let calls = Atomic(0)
        let running = Atomic(0)
        let busyHere = Atomic(0)
        let busyInAll = Atomic(0)
        let busyLine = Atomic(0)
        let busyOthers = Atomic(0)

        func add(_ number: Int, to counter: borrowing Atomic<Int>) {
            counter.store(counter.load(ordering: .relaxed) &+ number, ordering: .relaxed)
        }
    }

    /// What happens seldom enough for a lock.
    package struct Rare: Sendable {
        package var accepted = 0
        package var loggedIn = 0
        package var failedLogins = 0
        /// How often a thread was kept by an object for so long that another took its loop over.
        package var takeovers = 0
        /// How often each limit was run into.
        package var overruns: [Limit: Int] = [:]
    }

    /// How many requests may run at a time on all connections together.
    package let maximumRequests: Int
    private let tallies: [Tally]
    /// What each loop may run without a look at the others.
    private let share: Int
    private let rare = Lock(Rare())

    package init(loops: Int, maximumRequests: Int) {
        self.maximumRequests = maximumRequests
        tallies = (0..<max(1, loops)).map { _ in Tally() }
        share = maximumRequests / max(1, loops)
    }

    // MARK: on the loop of that number

    /// Whether a request on this loop would be one too many.
    package func isFull(on loop: Int) -> Bool {
        guard tallies.indices.contains(loop) else { return false }
        return tallies[loop].running.load(ordering: .relaxed) >= share && running >= maximumRequests
    }

    package func began(on loop: Int) {
        guard tallies.indices.contains(loop) else { return }
        tallies[loop].add(1, to: tallies[loop].calls)
        tallies[loop].add(1, to: tallies[loop].running)
    }

    package func ended(on loop: Int) {
        guard tallies.indices.contains(loop) else { return }
        tallies[loop].add(-1, to: tallies[loop].running)
    }

    /// A request was refused because as many were running as may, on its connection or on all together, or because too
    /// many were waiting. A flood is refused here, so this counts like calls.
    package func wasBusy(_ limit: Limit, on loop: Int) {
        guard tallies.indices.contains(loop) else { return }
        let tally = tallies[loop]
        switch limit {
        case .maximumRequestsInAll: tally.add(1, to: tally.busyInAll)
        case .maximumWait: tally.add(1, to: tally.busyLine)
        case .maximumWaitForOthers: tally.add(1, to: tally.busyOthers)
        default: tally.add(1, to: tally.busyHere)
        }
    }

    // MARK: from anywhere

    package func count(_ change: (inout Rare) -> Void) { rare.withLock { change(&$0) } }

    /// A peer ran into a limit.
    package func overran(_ limit: Limit) { count { $0.overruns[limit, default: 0] += 1 } }

    package var rareEvents: Rare {
        var events = rare.withLock { $0 }
        for tally in tallies {
            for (limit, number) in [
                (Limit.maximumRequestsInFlight, tally.busyHere.load(ordering: .relaxed)),
                (.maximumRequestsInAll, tally.busyInAll.load(ordering: .relaxed)),
                (.maximumWait, tally.busyLine.load(ordering: .relaxed)),
                (.maximumWaitForOthers, tally.busyOthers.load(ordering: .relaxed)),
            ] where number > 0 { events.overruns[limit, default: 0] += number }
        }
        return events
    }
    package var calls: Int { tallies.reduce(0) { $0 + $1.calls.load(ordering: .relaxed) } }
    package var running: Int { tallies.reduce(0) { $0 + $1.running.load(ordering: .relaxed) } }
}
