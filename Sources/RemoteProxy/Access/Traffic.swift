// Counts the events at a server: calls by the tally of each loop, rare events under one lock. Also limits the calls of all
// connections together, and the bytes that came with them.

import RPCSockets
package import RPCWire
import Synchronization

package final class Traffic: Sendable {
    /// Events that are rare enough for a lock.
    package struct Rare: Sendable {
        package var accepted = 0
        package var loggedIn = 0
        package var failedLogins = 0
        /// How often an object kept a thread for so long that another thread took its loop over.
        package var takeovers = 0
        /// How often each limit was overrun.
        package var overruns: [Limit: Int] = [:]
    }

    /// How many requests may run at a time on all connections together.
    package let maximumRequests: Int
    /// How many bytes these requests may hold together before no more begin; exact to four kilobytes for each session.
    package let maximumBytes: Int
    private let tallies: [LoopTally]
    private let rare = Lock(Rare())

    package init(loops: Int, maximumRequests: Int, maximumBytes: Int = .max) {
        self.maximumRequests = maximumRequests
        self.maximumBytes = maximumBytes
        let loops = max(1, loops)
        tallies = (0..<loops).map { _ in
            LoopTally(share: maximumRequests / loops, byteShare: maximumBytes / loops)
        }
    }

    /// The tally of the loop with that number; nil if there is no such loop.
    package func tally(of loop: Int) -> LoopTally? { tallies.indices.contains(loop) ? tallies[loop] : nil }

    /// The limit for which a request on this loop would be too many; nil if it may begin. Called on that loop.
    package func overrun(on tally: LoopTally) -> Limit? {
        if tally.isBelowItsShare { return nil }
        if tally.running.load(ordering: .relaxed) >= tally.share, running >= maximumRequests {
            return .maximumRequestsInAll
        }
        return tally.bytes.load(ordering: .relaxed) >= tally.byteShare && bytes >= maximumBytes
            ? .maximumBytesInAll : nil
    }

    // MARK: from any thread

    package func count(_ change: (inout Rare) -> Void) { rare.withLock { change(&$0) } }

    /// Counts that a peer has run into a limit.
    package func overran(_ limit: Limit) { count { $0.overruns[limit, default: 0] += 1 } }

    package var rareEvents: Rare {
        var events = rare.withLock { $0 }
        for tally in tallies {
            for (limit, number) in tally.overruns where number > 0 { events.overruns[limit, default: 0] += number }
        }
        return events
    }

    package var calls: Int { tallies.reduce(0) { $0 + $1.calls.load(ordering: .relaxed) } }
    package var bytes: Int { tallies.reduce(0) { $0 + $1.bytes.load(ordering: .relaxed) } }
    var waitingBytes: Int { tallies.reduce(0) { $0 + $1.waitingBytes.load(ordering: .relaxed) } }
    package var running: Int { tallies.reduce(0) { $0 + $1.running.load(ordering: .relaxed) } }
}
