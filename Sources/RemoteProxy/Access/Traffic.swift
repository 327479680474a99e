// What goes on at a server, counted: calls by the tally of each loop, all that is rare under one lock. Also what keeps all
// connections together below a number of calls, and of bytes that came with them.

import RPCSockets
package import RPCWire
import Synchronization

package final class Traffic: Sendable {
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
    /// How many bytes they may hold together before no more begin, to four kilobytes for each session.
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

    /// Where the loop of that number counts; nil if there is no such loop.
    package func tally(of loop: Int) -> LoopTally? { tallies.indices.contains(loop) ? tallies[loop] : nil }

    /// For which limit a request on a loop would be one too many. On that loop.
    package func overrun(on tally: LoopTally) -> Limit? {
        if tally.isBelowItsShare { return nil }
        if tally.running.load(ordering: .relaxed) >= tally.share, running >= maximumRequests {
            return .maximumRequestsInAll
        }
        return tally.bytes.load(ordering: .relaxed) >= tally.byteShare && bytes >= maximumBytes
            ? .maximumBytesInAll : nil
    }

    // MARK: from anywhere

    package func count(_ change: (inout Rare) -> Void) { rare.withLock { change(&$0) } }

    /// A peer ran into a limit.
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
