// Counts the events at a server: calls by the tally of each loop, rare events under one lock. Also limits the calls of all
// connections together, and all bytes that the server keeps for its peers.

import RPCSockets
package import RPCWire
import Synchronization

package final class Traffic: Sendable {
    /// Events that are rare enough for a lock.
    package struct Rare: Sendable {
        package var accepted = 0
        package var loggedIn = 0
        package var failedLogins = 0
        package var handshakes = 0
        /// Of the handshakes, those that went on with an earlier session.
        package var resumptions = 0
        package var failedHandshakes = 0
        /// How often an object kept a thread for so long that another thread took its loop over.
        package var takeovers = 0
        /// How often a peer answered a call, or acknowledged a message, that it had never been sent.
        package var strays = 0
        /// How many posts were dropped by the proxies around their objects.
        package var droppedPosts = 0
        /// How often each limit was overrun.
        package var overruns: [Limit: Int] = [:]
    }

    /// How many requests may run at a time on all connections together.
    package let maximumRequests: Int
    /// How many bytes may be kept for all peers together. Beyond it only sessions that owe little may add to them.
    package let maximumBytes: Int
    private let kept = Atomic(0)
    private let isRelieving = Atomic(false)
    /// Called when all bytes are used up, and once more only after `reliefIsOver`.
    private let relief: Lock<@Sendable () -> Void> = Lock({})
    private let tallies: [LoopTally]
    private let rare = Lock(Rare())

    package init(loops: Int, maximumRequests: Int, maximumBytes: Int = .max) {
        self.maximumRequests = maximumRequests
        self.maximumBytes = maximumBytes
        let loops = max(1, loops)
        tallies = (0..<loops).map { _ in LoopTally(share: maximumRequests / loops) }
    }

    /// The tally of the loop with that number; nil if there is no such loop.
    package func tally(of loop: Int) -> LoopTally? { tallies.indices.contains(loop) ? tallies[loop] : nil }

    /// The limit for which a request on this loop would be too many; nil if it may begin. Called on that loop.
    @inline(__always)
    package func overrun(on tally: LoopTally) -> Limit? {
        if isFull { return .maximumBytesInAll }
        return tally.isBelowItsShare || running < maximumRequests ? nil : .maximumRequestsInAll
    }

    // MARK: from any thread

    package func count(_ change: (inout Rare) -> Void) { rare.withLock { change(&$0) } }

    /// Returns how many posts have been dropped.
    func countDroppedPost() -> Int {
        rare.withLock { rare in
            rare.droppedPosts += 1
            return rare.droppedPosts
        }
    }

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
    package var running: Int { tallies.reduce(0) { $0 + $1.running.load(ordering: .relaxed) } }

    // MARK: bytes

    /// How many bytes are kept for all peers: of requests, answers and posts, here or on their way, and of results in caches.
    /// Exact to some kilobytes for each session.
    package var bytes: Int { kept.load(ordering: .relaxed) }
    package var isFull: Bool { bytes >= maximumBytes }
    /// Whether more than half of the bytes are used up.
    package var isHalfFull: Bool { bytes > maximumBytes / 2 }

    /// Adds a change of these bytes.
    package func keeps(_ change: Int) { kept.add(change, ordering: .relaxed) }

    /// Has this called when all bytes are used up: it has the sessions end that owe most. It is called on any thread, also under
    /// locks, so it must return at once.
    package func whenFull(_ relief: @escaping @Sendable () -> Void) { self.relief.withLock { $0 = relief } }

    /// Has the largest debtors pay if the bytes are used up.
    func relieveIfFull() {
        if isFull, !isRelieving.exchange(true, ordering: .acquiring) { relief.withLock { $0 }() }
    }

    package func reliefIsOver() { isRelieving.store(false, ordering: .releasing) }
}

/// What a server keeps for one session while it waits: for its peer, for its turn, or for an object. The session with the
/// largest debt pays first when the bytes of the whole server are used up.
package struct SessionAccount: ~Copyable, Sendable {
    /// Every session may owe so much, however much the others owe.
    package static let share = 4_096

    /// What proxies keep for the session until an object can take it.
    private struct Kept {
        var bytes = 0
        var posts: [ObjectIdentifier: @Sendable () -> Void] = [:]
        var isOver = false
    }

    /// Nil at an end that counts nothing.
    let traffic: Traffic?
    private let debt = Atomic(0)
    private let kept = Lock<Kept?>(nil)
    private let mostKept: Int

    /// - Parameter mostKept: how many bytes proxies may keep for the session. While they have fewer, they keep one more post,
    ///   however long it is.
    init(_ traffic: Traffic?, mostKept: Int) { (self.traffic, self.mostKept) = (traffic, mostKept) }

    /// Whether the debt matters to any total.
    var isCounted: Bool { traffic != nil }
    package var bytes: Int { debt.load(ordering: .relaxed) }

    /// Whether the server keeps as much as it may, and this session owes more than its share of it.
    var isOverdrawn: Bool { traffic?.isFull == true && bytes >= Self.share }

    /// Adds bytes that the server keeps, or removes some. Callable from any thread, also under a lock.
    func owes(_ change: Int) {
        guard let traffic else { return }
        debt.add(change, ordering: .relaxed)
        traffic.keeps(change)
        if change > 0 { traffic.relieveIfFull() }
    }

    /// Bytes of a request that is counted already begin to wait, or wait no more.
    func waits(_ change: Int) { debt.add(change, ordering: .relaxed) }

    // MARK: posts in proxies

    /// Counts a post that a proxy keeps, under the name that is given.
    /// - Parameter drop: drops the post. Called when the session is over, outside of all locks.
    /// - Throws: why the proxy must not keep it.
    func keeps(_ post: ObjectIdentifier, of bytes: Int, drop: @escaping @Sendable () -> Void) throws(NotKept) {
        if isOverdrawn { throw NotKept(.maximumBytesInAll) }
        try kept.withLock { kept throws(NotKept) in
            var all = kept ?? Kept()
            if all.isOver { throw NotKept(.sessionGrace) }
            guard all.bytes < mostKept else { throw NotKept(.maximumBytesInFlight) }
            all.bytes += bytes
            all.posts[post] = drop
            kept = all
        }
        owes(bytes)
    }

    /// The post with this name has been delivered or dropped.
    func keepsNoMore(_ post: ObjectIdentifier, of bytes: Int) {
        let wasKept = kept.withLock { kept in
            guard kept?.posts.removeValue(forKey: post) != nil else { return false }
            kept?.bytes -= bytes
            return true
        }
        if wasKept { owes(-bytes) }
    }

    /// Whether proxies keep any.
    var keepsPosts: Bool { kept.withLock { $0?.posts.isEmpty == false } }

    /// Has all these posts dropped, because their session is over. No more are kept.
    func dropKept() {
        let dropped = kept.withLock { kept in
            var all = kept ?? Kept()
            all.isOver = true
            kept = all
            return Array(all.posts.values)
        }
        for drop in dropped { drop() }
    }
}

/// Why proxies keep no more posts of a sender.
struct NotKept: Error {
    private let limit: Limit

    init(_ limit: Limit) { self.limit = limit }

    /// For the log.
    var why: String {
        limit == .sessionGrace
            ? "the session of its sender is over"
            : "proxies keep as many bytes of posts for its sender as they may (\(limit))"
    }
}
