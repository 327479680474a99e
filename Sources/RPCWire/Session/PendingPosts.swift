// The posts that the other end may not have: those that wait for a connection, and those that were sent and not
// acknowledged. Pure: events in, decisions out, time passed in.

package struct PendingPosts: ~Copyable {
    private let byteLimit: Int
    private var kept = KeptMessages()
    /// The number of the last post that was given to a stream.
    private var lastGiven: Int64 = 0
    /// The posts that went over a stream which takes no new calls, and are not acknowledged there. They are never sent again.
    private var unsettled: [Int: [Int64]] = [:]
    /// How many posts were refused since the log was last told of one; that one included.
    private var refused = 0
    /// How many posts were lost.
    private(set) var lost = 0
    /// No more posts are taken, and the owner is to be told when none is pending any more.
    private(set) var isSettling = false

    init(byteLimit: Int) { self.byteLimit = byteLimit }

    /// How many posts are not sent yet, or not acknowledged.
    var count: Int { kept.count + unsettled.values.reduce(0) { $0 + $1.count } }
    var isFull: Bool { kept.byteCount >= byteLimit }
    /// Whether an acknowledgement would release nothing.
    var isEmpty: Bool { kept.isEmpty }

    /// Keeps a post until there is a connection, or until its deadline.
    mutating func keep(_ message: UnsafeRawBufferPointer, number: Int64, until deadline: Instant) {
        kept.keep(message, number: number, deadline: deadline)
    }

    /// A post goes out now.
    /// - Parameter isKept: whether the other end will say that it has it.
    mutating func send(_ message: UnsafeRawBufferPointer, number: Int64, isKept: Bool) {
        if isKept { kept.keep(message, number: number) }
        lastGiven = number
    }

    /// All posts that are to be sent over a new connection, in order.
    /// - Parameters:
    ///   - longest: how long a message to the other end may be.
    ///   - isKept: whether the other end will say that it has them.
    /// - Returns: how many were dropped besides, because they are too late or too long.
    mutating func sendAll(
        at now: Instant, longest: Int, isKept: Bool
    ) -> (messages: [(number: Int64, message: Bytes)], dropped: Int) {
        let dropped = kept.drop { length, deadline in deadline <= now || length > longest }
        lost += dropped
        let messages = kept.messages.map { (number: $0.number, message: $0.message) }
        lastGiven = max(lastGiven, messages.last?.number ?? 0)
        if !isKept { kept.release(through: kept.last) }
        return (messages, dropped)
    }

    /// The other end has all posts up to this number.
    mutating func release(through number: Int64) { kept.release(through: number) }

    /// The other end has all posts up to this number that it was given over this stream.
    mutating func acknowledged(_ number: Int64, over stream: Int) {
        guard let given = unsettled[stream] else { return release(through: number) }
        let left = given.filter { $0 > number }
        unsettled[stream] = left.isEmpty ? nil : left
    }

    /// A stream takes no new calls, but may still acknowledge what it was given. Answers whether something is pending there.
    mutating func leave(_ stream: Int) -> Bool {
        let given = kept.numbers(through: lastGiven)
        kept.release(through: lastGiven)
        if !given.isEmpty { unsettled[stream] = given }
        return !given.isEmpty
    }

    /// Whether an acknowledgement may still come over a stream that takes no new calls.
    func isPending(on stream: Int) -> Bool { unsettled[stream] != nil }

    /// A stream is gone. What was left and not acknowledged there is lost.
    mutating func ended(_ stream: Int) -> LostPosts {
        let lost = LostPosts(unacknowledged: unsettled.removeValue(forKey: stream)?.count ?? 0)
        self.lost += lost.count
        return lost
    }

    /// Another session begins. Posts that may have arrived in the former one are lost, because no post is sent twice.
    mutating func restarted() -> LostPosts {
        let lost = LostPosts(unacknowledged: kept.release(through: lastGiven))
        self.lost += lost.count
        return lost
    }

    /// No more posts are taken. Losses are counted from now.
    mutating func close() {
        lost = 0
        isSettling = count > 0
    }

    /// All posts that are still pending are given up.
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

    /// Whether the last pending post is settled and the owner is to be told now; once.
    mutating func takeSettled() -> Bool {
        guard isSettling, count == 0 else { return false }
        isSettling = false
        return true
    }

    /// A post was refused for a reason that lies not in itself. Answers whether it is the first one, of which the log is told.
    mutating func noteRefusal() -> Bool {
        refused += 1
        return refused == 1
    }

    /// How many refused posts the log has not been told of.
    var untoldRefusals: Int { max(0, refused - 1) }

    /// The same; they count as told from now on.
    mutating func takeUntoldRefusals() -> Int {
        defer { refused = 0 }
        return untoldRefusals
    }

    /// Whether there is room again for some time, so that it is worth telling the log of refusals.
    var hasRoom: Bool { kept.byteCount <= byteLimit / 2 }
}

/// How many posts were lost by one event. A post reports nothing to its caller, so the log is told.
package struct LostPosts: Sendable, Hashable {
    /// They were never given to a connection.
    package var unsent = 0
    /// They were given to a connection, and the other end has not said that it has them.
    package var unacknowledged = 0

    package init(unsent: Int = 0, unacknowledged: Int = 0) {
        (self.unsent, self.unacknowledged) = (unsent, unacknowledged)
    }

    package var count: Int { unsent + unacknowledged }

    /// "1 post was", "2 posts were"
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
