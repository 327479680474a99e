// What goes on at a server, counted: calls on each loop by the loop itself, all that is rare under one lock. Also what
// keeps all connections together below a number of calls, and of bytes that came with them.

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
        let bytes = Atomic(0)
        let fullHere = Atomic(0)
        let fullInAll = Atomic(0)
        let busyLine = Atomic(0)
        let busyOthers = Atomic(0)

        /// Asked for every message, and nearly always so.
        @inline(__always)
        func isBelow(_ share: Int, _ byteShare: Int) -> Bool {
            running.load(ordering: .relaxed) < share && bytes.load(ordering: .relaxed) < byteShare
        }

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
    /// How many bytes they may hold together before no more begin.
    package let maximumBytes: Int
    private let tallies: [Tally]
    /// What each loop may run without a look at the others.
    private let share: Int
    private let byteShare: Int
    private let rare = Lock(Rare())

    package init(loops: Int, maximumRequests: Int, maximumBytes: Int = .max) {
        self.maximumRequests = maximumRequests
        self.maximumBytes = maximumBytes
        tallies = (0..<max(1, loops)).map { _ in Tally() }
        share = maximumRequests / max(1, loops)
        byteShare = maximumBytes / max(1, loops)
    }

    // MARK: on the loop of that number

    /// For which limit a request on this loop would be one too many.
    package func overrun(on loop: Int) -> Limit? {
        guard tallies.indices.contains(loop) else { return nil }
        // Not counted: both are asked for every message, and the tally stays as long as this does.
        let tally = Unmanaged.passUnretained(tallies[loop])
        if tally._withUnsafeGuaranteedRef({ $0.isBelow(share, byteShare) }) { return nil }
        if tallies[loop].running.load(ordering: .relaxed) >= share, running >= maximumRequests {
            return .maximumRequestsInAll
        }
        return tallies[loop].bytes.load(ordering: .relaxed) >= byteShare && bytes >= maximumBytes
            ? .maximumBytesInAll : nil
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

    /// The requests of a session hold more than it has said before, or less.
    package func holds(_ change: Int, on loop: Int) {
        guard tallies.indices.contains(loop) else { return }
        tallies[loop].add(change, to: tallies[loop].bytes)
    }

    /// A request was refused because as many were running as may, on its connection or on all together, or because too
    /// many were waiting. A flood is refused here, so this counts like calls.
    package func wasBusy(_ limit: Limit, on loop: Int) {
        guard tallies.indices.contains(loop) else { return }
        let tally = tallies[loop]
        switch limit {
        case .maximumRequestsInAll: tally.add(1, to: tally.busyInAll)
        case .maximumBytesInFlight: tally.add(1, to: tally.fullHere)
        case .maximumBytesInAll: tally.add(1, to: tally.fullInAll)
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
                (.maximumBytesInFlight, tally.fullHere.load(ordering: .relaxed)),
                (.maximumBytesInAll, tally.fullInAll.load(ordering: .relaxed)),
                (.maximumWait, tally.busyLine.load(ordering: .relaxed)),
                (.maximumWaitForOthers, tally.busyOthers.load(ordering: .relaxed)),
            ] where number > 0 { events.overruns[limit, default: 0] += number }
        }
        return events
    }
    package var calls: Int { tallies.reduce(0) { $0 + $1.calls.load(ordering: .relaxed) } }
    package var bytes: Int { tallies.reduce(0) { $0 + $1.bytes.load(ordering: .relaxed) } }
    package var running: Int { tallies.reduce(0) { $0 + $1.running.load(ordering: .relaxed) } }
}
