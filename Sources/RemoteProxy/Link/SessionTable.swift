// The sessions of a listening end, by their ids: where a client that has lost its connection finds its own again.

import RPCSockets
import RPCWire
import Synchronization

package final class SessionTable: Sendable {
    private struct State {
        struct Entry {
            let link: Link
            /// Grows from one session to the next.
            let number: Int
            /// Nil while a channel serves the link; otherwise when it was lost, a number that grows from one loss to the next.
            var left: (at: Int, owner: Identity?)?
        }

        var entries: [String: Entry] = [:]
        var (additions, losses) = (0, 0)
        var isClosed = false

        /// Takes out the session that has waited longest for its client: of this owner, or if none of theirs waits, of all.
        mutating func takeOldestUnclaimed(of owner: Identity?) -> Link? {
            var oldest: (id: String, isOwn: Bool, at: Int)?
            for (id, entry) in entries {
                guard let left = entry.left else { continue }
                let isOwn = left.owner == owner
                if oldest.map({ isOwn == $0.isOwn ? left.at < $0.at : isOwn }) != false {
                    oldest = (id, isOwn, left.at)
                }
            }
            return oldest.flatMap { entries.removeValue(forKey: $0.id)?.link }
        }
    }

    /// How long a session waits for its client.
    let grace: Duration
    private let limit: Int
    private let state = Lock(State())

    /// What all sessions keep for clients that have not acknowledged it, and how much of that there may be before those
    /// that keep something begin no call.
    private let keptReplyBytes = Atomic(0)
    let maximumKeptReplyBytes: Int

    package init(grace: Duration = .seconds(60), limit: Int = 10_000, maximumKeptReplyBytes: Int = 256 << 20) {
        self.grace = grace
        self.limit = limit
        self.maximumKeptReplyBytes = maximumKeptReplyBytes
    }

    /// A session keeps more than it has said before, or less.
    func keeps(_ bytes: Int) { keptReplyBytes.add(bytes, ordering: .relaxed) }

    var keepsTooMuch: Bool { keptReplyBytes.load(ordering: .relaxed) >= maximumKeptReplyBytes }

    package var count: Int { state.withLock { $0.entries.count } }
    /// Whether a session has this id; for tests.
    func has(_ id: String) -> Bool { state.withLock { $0.entries[id] != nil } }
    /// Those with a channel and those without.
    private var all: [Link] { state.withLock { $0.entries.values.map(\.link) } }
    /// Answers that no client has acknowledged; for tests, on the loop of all sessions.
    package var keptReplies: Int {
        state.withLock { $0.entries.values.map { $0.link.half.replies.count }.reduce(0, +) }
    }

    /// Takes a session in. At the limit it takes the place of the one that has waited longest for its client, of the same
    /// owner if there is one: no owner crowds out another's before all of their own. False when all have their client.
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
        old?.loop.submit { old?.end("more than \(self.limit) sessions (maximumSessions)") }
        return isAdded
    }

    /// The link that has the session with this id, which from now on counts as claimed; nil if there is none, or if it belongs
    /// to another: the answers are the same.
    func claim(_ id: String, by identity: Identity?) -> Link? {
        // Any longer one would take its time to be looked for.
        guard id.utf8.count == Link.lengthOfID else { return nil }
        return state.withLock { state in
            guard let link = state.entries[id]?.link, link.identity == identity else { return nil }
            state.entries[id]?.left = nil
            return link
        }
    }

    /// A channel serves the link.
    func claimed(_ link: Link) {
        let id = link.id
        state.withLock { $0.entries[id]?.left = nil }
    }

    /// The link has lost its channel.
    func left(_ link: Link) {
        let (id, owner) = (link.id, link.identity)
        state.withLock { state in
            state.losses += 1
            state.entries[id]?.left = (state.losses, owner)
        }
    }

    func remove(_ link: Link) {
        let id = link.id
        // Let go outside the lock.
        _ = state.withLock { $0.entries.removeValue(forKey: id) }
    }

    /// No session can be resumed any more: those that have a channel end with it, the others now.
    package func close() {
        let links = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return state.entries.values.sorted { $0.number < $1.number }.map(\.link)
        }
        for link in links { link.loop.submit { link.endWithChannel() } }
    }

    /// The list of tokens has been replaced. Reaches the sessions that wait for their clients, besides all others.
    package func judgeAgain() {
        for link in all { link.loop.submit { link.endIfRevoked() } }
    }
}
