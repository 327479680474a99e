// The sessions of a listening end, by their ids: a client that has lost its connection finds its session here again.

import RPCSockets
import RPCWire

package final class SessionTable: Sendable {
    private struct State {
        struct Entry {
            let link: Link
            /// Increases from one session to the next.
            let number: Int
            /// Nil while a channel serves the link. Otherwise the number of the loss; it increases from one loss to the next.
            var leftAt: Int?
        }

        var entries: [String: Entry] = [:]
        /// The sessions of clients that have left, while their posts run.
        var finishing: [ObjectIdentifier: (link: Link, number: Int)] = [:]
        var (additions, losses) = (0, 0)
        var isClosed = false
        var whenNoneFinishes: (@Sendable () -> Void)?
        var unclaimed = UnclaimedSessions()

        /// Takes out the session that has waited longest for its client. A session of this owner goes first, before those of
        /// others.
        mutating func takeOldestUnclaimed(of owner: Identity?) -> Link? {
            let oldest = unclaimed.takeFirst(preferring: owner) { [entries] in entries[$0.id]?.leftAt == $0.leftAt }
            return oldest.flatMap { entries.removeValue(forKey: $0.id)?.link }
        }
    }

    /// How long a session waits for its client.
    let grace: Duration
    /// How long the posts of a client that has left may still take, and what that limit is called.
    let graceOfPosts: (limit: Limit, time: Duration)
    private let limit: Int
    private let state = Lock(State())

    package init(grace: Duration = .seconds(60), limit: Int = 10_000) {
        (self.grace, self.limit) = (grace, limit)
        graceOfPosts = (.sessionGrace, grace)
    }

    /// A table for connections to which no client can come back.
    /// - Parameter stopGrace: how long the posts of a client that has left may still take.
    package init(endingWithin stopGrace: Duration) {
        (grace, limit) = (.zero, 0)
        graceOfPosts = (.stopGrace, stopGrace)
        state.withLock { $0.isClosed = true }
    }

    package var count: Int { state.withLock { $0.entries.count } }
    /// All sessions, with or without a channel, and those that are over and have posts left to run.
    package var all: [Link] { state.withLock { $0.entries.values.map(\.link) + $0.finishing.values.map(\.link) } }
    /// The link that has this session; for tests.
    package func link(named id: String) -> Link? { state.withLock { $0.entries[id]?.link } }

    /// Adds a session. Returns false if the table is closed, or is full and all its sessions have their client. A full table
    /// drops the session that has waited longest for its client: one of the same owner if any waits, so that no owner crowds
    /// out others first.
    func add(_ link: Link) -> Bool {
        let (id, owner) = (link.id, link.identity)
        let (isAdded, isFull, old) = state.withLock { state -> (Bool, Bool, Link?) in
            guard !state.isClosed else { return (false, false, nil) }
            let isFull = state.entries.count >= limit
            let old = isFull ? state.takeOldestUnclaimed(of: owner) : nil
            guard state.entries.count < limit else { return (false, isFull, old) }
            state.additions += 1
            state.entries[id] = .init(link: link, number: state.additions)
            return (true, isFull, old)
        }
        if isFull { link.overran(.maximumSessions) }
        old?.loop.submit { old?.endAtOnce(because: "more than \(self.limit) sessions (maximumSessions)") }
        return isAdded
    }

    /// The link that has the session with this id, which counts as claimed from now on. Nil if there is none, or if it belongs
    /// to another identity: the answers must not tell these apart.
    func claim(_ id: String, by identity: Identity?) -> Link? {
        // A longer id, which a peer may send, would take long to look up.
        guard id.utf8.count == Link.lengthOfID else { return nil }
        return state.withLock { state in
            guard let link = state.entries[id]?.link, link.identity == identity else { return nil }
            state.entries[id]?.leftAt = nil
            return link
        }
    }

    /// Notes that a channel serves the link.
    func claimed(_ link: Link) {
        let id = link.id
        state.withLock { $0.entries[id]?.leftAt = nil }
    }

    /// Notes that the link has lost its channel.
    func left(_ link: Link) {
        let (id, owner) = (link.id, link.identity)
        state.withLock { state in
            guard state.entries[id] != nil else { return }
            state.losses += 1
            state.entries[id]?.leftAt = state.losses
            state.unclaimed.append(.init(id: id, leftAt: state.losses), of: owner, among: state.entries.count) {
                state.entries[$0.id]?.leftAt == $0.leftAt
            }
        }
    }

    func remove(_ link: Link) {
        let id = link.id
        // The link is released outside the lock.
        _ = state.withLock { $0.entries.removeValue(forKey: id) }
    }

    /// Notes that a session is over, and that posts of it are left to run. Of too many such sessions the oldest loses its posts.
    func finishes(_ link: Link) {
        let oldest = state.withLock { state -> Link? in
            state.losses += 1
            state.finishing[ObjectIdentifier(link)] = (link, state.losses)
            guard state.finishing.count > limit else { return nil }
            return state.finishing.values.min { $0.number < $1.number }?.link
        }
        oldest?.loop.submit { oldest?.stopPosts(because: "more than \(self.limit) sessions (maximumSessions)") }
    }

    /// Notes that none is left.
    func finished(_ link: Link) {
        let (_, action) = state.withLock { state in
            let link = state.finishing.removeValue(forKey: ObjectIdentifier(link))
            return (link, state.finishing.isEmpty ? state.whenNoneFinishes.take() : nil)
        }
        action?()
    }

    /// Calls the action when the posts of all clients that have left have run or were stopped; at once if that is so. A
    /// later action takes the place of one that waits.
    package func whenNoneFinishes(_ action: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state in
            if !state.finishing.isEmpty { state.whenNoneFinishes = action }
            return state.finishing.isEmpty
        }
        if isDone { action() }
    }

    /// Ends the sessions that owe most, until what all owe together is less by this much. A session within its share stays.
    /// - Parameter others: links of connections, which may have no session here.
    package func endDebtors(of excess: Int, and others: [Link]) {
        var links: [ObjectIdentifier: Link] = [:]
        for link in all + others { links[ObjectIdentifier(link)] = link }
        let debtors = links.values.map { (link: $0, debt: $0.requester.account.bytes) }.filter {
            $0.debt > SessionAccount.share
        }
        // What running calls came with is no debt. If the debts are less than the excess, ending these sessions frees too little.
        guard debtors.reduce(0, { $0 + $1.debt }) >= excess else { return }
        var left = excess
        for (link, debt) in debtors.sorted(by: { $0.debt > $1.debt }) where left > 0 {
            left -= debt
            link.loop.submit { link.endAsDebtor() }
        }
    }

    /// Closes the table: no session can be resumed any more. Sessions with a channel end with it, the others end now.
    package func close() {
        let links = state.withLock { state in
            state.isClosed = true
            defer { (state.entries, state.unclaimed) = ([:], UnclaimedSessions()) }
            return state.entries.values.sorted { $0.number < $1.number }.map(\.link)
        }
        for link in links { link.loop.submit { link.endWithChannel() } }
    }

    /// Has every session judged by the new list of tokens, including those that wait for their clients.
    package func judgeAgain() {
        for link in all { link.loop.submit { link.endIfRevoked() } }
    }
}

/// Finds the session that has waited longest for its client. With many sessions, a search through all of them would cost each
/// new one too much. A session that its client has claimed keeps its place here, and is passed over.
struct UnclaimedSessions: Sendable {
    struct Place: Sendable, Hashable {
        let id: String
        /// Increases from one loss to the next.
        let leftAt: Int
    }

    /// Oldest first.
    private var lines: [Identity?: ArraySlice<Place>] = [:]

    /// How many places there are; for tests.
    var count: Int { lines.values.reduce(0) { $0 + $1.count } }

    /// Adds a place at the end of its owner's line.
    /// - Parameters:
    ///   - sessions: how many sessions there are. When a line has many more places, those that were given up are removed.
    ///   - isWaiting: whether the session of a place still waits.
    mutating func append(_ place: Place, of owner: Identity?, among sessions: Int, _ isWaiting: (Place) -> Bool) {
        lines[owner, default: []].append(place)
        guard let line = lines[owner], line.count > 2 * sessions + 16 else { return }
        lines[owner] = ArraySlice(line.filter(isWaiting))
    }

    /// Takes out the oldest place of this owner; if this owner has none, the oldest of all.
    mutating func takeFirst(preferring owner: Identity?, _ isWaiting: (Place) -> Bool) -> Place? {
        if let own = takeFirst(of: owner, isWaiting) { return own }
        for other in lines.keys { passOver(in: other, isWaiting) }
        let oldest = lines.min { ($0.value.first?.leftAt ?? .max) < ($1.value.first?.leftAt ?? .max) }
        return oldest.flatMap { takeFirst(of: $0.key, isWaiting) }
    }

    private mutating func takeFirst(of owner: Identity?, _ isWaiting: (Place) -> Bool) -> Place? {
        passOver(in: owner, isWaiting)
        return lines[owner]?.popFirst()
    }

    private mutating func passOver(in owner: Identity?, _ isWaiting: (Place) -> Bool) {
        while let first = lines[owner]?.first, !isWaiting(first) { lines[owner]?.removeFirst() }
        if lines[owner]?.isEmpty == true { lines[owner] = nil }
    }
}
