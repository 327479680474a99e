// The posts that the peer may not have: those that wait for a connection, and those that were sent and are not acknowledged.
// Pure: events in, decisions out, time passed in.

package struct PendingPosts: ~Copyable {
    let byteLimit: Int
    private var kept = KeptMessages()
    /// The posts up to this number were given to the present channel, or may have arrived over a former one.
    private var lastGiven: Int64 = 0
    /// The highest number of a post that was ever given to a channel.
    private var lastInTime: Int64 = 0
    /// By channel: the posts that were sent over a channel which takes no new calls, and are not acknowledged. They are never
    /// sent again.
    private var unsettled: [Int: [Int64]] = [:]
    /// How many posts were refused since the log was last told of one. Includes that one.
    private var refused = 0
    /// How many posts were lost; since `close`, if it was called.
    private(set) var lost = 0
    /// Whether no more posts are taken, and the owner must be told when none is pending any more.
    private(set) var isSettling = false

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// How many posts are not sent yet, or not acknowledged.
    var count: Int { kept.count + unsettled.values.reduce(0) { $0 + $1.count } }
    var byteCount: Int { kept.byteCount }
    var isFull: Bool { kept.byteCount >= byteLimit }
    /// Whether posts wait to be given to the present channel.
    var wait: Bool { kept.last > lastGiven }
    /// Whether an acknowledgement over the current channel would release no post.
    var isEmpty: Bool { kept.isEmpty }

    /// Keeps a post until it can be given to a channel, or, if there is none, until its deadline.
    mutating func keep(
        _ message: UnsafeRawBufferPointer, ownBytes: Int, number: Int64, until deadline: Instant, kind: PostKind = .free
    ) {
        kept.keep(message, number: number, deadline: deadline, ownBytes: ownBytes, kind: kind)
    }

    /// Whether the post of that number is kept, or may still be acknowledged.
    func keeps(_ number: Int64) -> Bool {
        kept.keeps(number) || unsettled.values.contains { $0.first ?? .max <= number && $0.last ?? 0 >= number }
    }

    /// A post is sent now.
    /// - Parameter isKept: whether the peer will acknowledge it.
    mutating func send(
        _ message: UnsafeRawBufferPointer, ownBytes: Int, number: Int64, isKept: Bool, kind: PostKind = .free
    ) {
        if isKept { kept.keep(message, number: number, ownBytes: ownBytes, kind: kind) }
        given(number)
    }

    private mutating func given(_ number: Int64) {
        lastGiven = number
        lastInTime = max(lastInTime, number)
    }

    /// A channel is ready, and the session goes on: the peer has all posts up to this number.
    mutating func resumed(received: Int64) {
        kept.release(through: received)
        lastGiven = received
    }

    /// Drops the posts that are too late or too long for the channel that is ready. Returns how many.
    /// - Parameter longest: how long a message to the peer may be.
    mutating func dropUnwanted(at now: Instant, longest: Int) -> Int {
        // A post that was sent and is not acknowledged belongs to the session, which goes on: it has no deadline any more.
        let dropped = kept.drop { number, length, deadline, _ in
            deadline <= now && number > lastInTime || length > longest
        }
        lost += dropped
        return dropped
    }

    /// The post that is to be given to the channel next; nil if none waits.
    /// - Parameter isKept: whether the peer runs this library. Another peer does not get the metadata.
    mutating func next(isKept: Bool) -> (number: Int64, message: Bytes)? {
        guard let next = kept.message(after: lastGiven) else {
            lastGiven = max(lastGiven, kept.last)
            return nil
        }
        return (next.number, isKept ? next.message : next.message[0..<next.message.count - next.ownBytes])
    }

    /// The next post is given to the channel.
    /// - Parameter isKept: whether the peer will acknowledge it.
    mutating func give(_ number: Int64, isKept: Bool) {
        given(number)
        if !isKept { kept.release(through: number) }
    }

    /// The peer has all posts up to this number.
    mutating func release(through number: Int64) { kept.release(through: number) }

    /// The peer has all posts up to this number that it was given over this channel.
    mutating func acknowledged(_ number: Int64, over channel: Int) {
        guard let given = unsettled[channel] else { return release(through: number) }
        let left = given.filter { $0 > number }
        unsettled[channel] = left.isEmpty ? nil : left
    }

    /// A channel takes no new calls, but may still acknowledge the posts that it was given. Returns whether it has such posts.
    mutating func retire(_ channel: Int) -> Bool {
        let given = kept.numbers(through: lastGiven)
        kept.release(through: lastGiven)
        if !given.isEmpty { unsettled[channel] = given }
        return !given.isEmpty
    }

    /// Whether an acknowledgement may still come over a channel that takes no new calls.
    func isPending(on channel: Int) -> Bool { unsettled[channel] != nil }

    /// A channel is gone. Posts are lost that were sent over it, if it took no new calls and they are not acknowledged.
    mutating func ended(_ channel: Int) -> LostPosts {
        let lost = LostPosts(unacknowledged: unsettled.removeValue(forKey: channel)?.count ?? 0)
        self.lost += lost.count
        return lost
    }

    /// Another session begins. Posts that may have arrived in the former one are lost, because no post is sent twice. So are those
    /// that are bound to it.
    mutating func restarted() -> LostPosts {
        let unacknowledged = kept.release(through: lastGiven)
        let lost = LostPosts(unsent: kept.drop { $3 != .free }, unacknowledged: unacknowledged)
        self.lost += lost.count
        return lost
    }

    /// Takes no more posts, and counts losses from now on.
    mutating func close() {
        lost = 0
        isSettling = count > 0
    }

    /// Gives up all posts that are still pending.
    mutating func loseAll() -> LostPosts {
        let pending = count
        kept.release(through: lastGiven)
        let lost = LostPosts(unsent: kept.count, unacknowledged: pending - kept.count)
        kept.removeAll()
        unsettled = [:]
        isSettling = false
        self.lost += lost.count
        return lost
    }

    /// How much memory there is for posts; for tests.
    var room: (bytes: Int, count: Int) { kept.room }

    /// Gives memory back that is not in use.
    mutating func releaseRoom() { kept.releaseRoom() }

    /// Whether the owner must be told now that the last pending post is settled. True only once.
    mutating func takeSettled() -> Bool {
        guard isSettling, count == 0 else { return false }
        isSettling = false
        return true
    }

    /// A post was refused, but is not itself at fault. Returns whether it is the first one, of which the log is told.
    mutating func countRefusal() -> Bool {
        refused += 1
        return refused == 1
    }

    /// How many refused posts the log has not been told of.
    var untoldRefusals: Int { max(0, refused - 1) }

    /// The same, and marks them as told.
    mutating func takeUntoldRefusals() -> Int {
        defer { refused = 0 }
        return untoldRefusals
    }

    /// Whether there is room for some time. Before that, telling the log of refusals would be too early.
    var hasRoom: Bool { kept.byteCount <= byteLimit / 2 }
}

/// How many posts were lost by one event. The log is told, because a post reports nothing to its caller.
package struct LostPosts: Sendable, Hashable {
    /// How many were never given to a connection.
    package var unsent = 0
    /// How many were given to a connection, and were not acknowledged by the peer.
    package var unacknowledged = 0

    package init(unsent: Int = 0, unacknowledged: Int = 0) {
        (self.unsent, self.unacknowledged) = (unsent, unacknowledged)
    }

    package var count: Int { unsent + unacknowledged }

    /// Such as "1 post was" or "2 posts were".
    package static func text(_ count: Int) -> String { count == 1 ? "1 post was" : "\(count) posts were" }

    /// A line for the log.
    package func text(because why: String) -> String {
        let perhaps =
            "\(unacknowledged == 1 ? "1 post" : "\(unacknowledged) posts") that had been sent and not acknowledged"
        guard unsent > 0 else { return "\(perhaps) may or may not have been delivered: \(why)" }
        guard unacknowledged > 0 else { return "\(Self.text(unsent)) not delivered: \(why)" }
        return "\(Self.text(unsent)) not delivered, and \(perhaps) may or may not have been: \(why)"
    }
}
