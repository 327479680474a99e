// The table of the calls that this end has made and that have not ended. Pure: events in, decisions out, time passed in.
//
// A call is *waiting* for a connection, or *sent*: its bytes are in the outgoing queue of a known channel, from a known offset.
// It leaves the table exactly once: by its reply, its deadline, its caller's cancellation or the loss of its session. Only the
// event that removes a call may tell its caller; each later event finds no call and does nothing. If a connection is lost and
// its session is not, the calls wait again under the same numbers. Then the table remembers which of them may have arrived.
// `IncomingCalls` is its counterpart.

/// The driver's name for one of its calls. It has no meaning here, and copying it counts no references.
package struct CallHandle: Sendable, Hashable {
    package let word: UInt

    @inlinable package init(word: UInt) { self.word = word }
}

/// An offset in one of the channels that serve this end one after the other.
package struct ChannelOffset: Sendable, Hashable {
    package let channel: Int
    package let offset: UInt64

    @inlinable package init(channel: Int, offset: UInt64) {
        self.channel = channel
        self.offset = offset
    }
}

/// What happens to a call when its connection is lost, or if there is no connection.
package enum Persistence: Sendable, Hashable {
    /// It waits for the next connection until its deadline. It ends if it may have arrived in a session that is lost.
    case waits
    /// The same, but it may run twice: it is sent again even if it may have arrived in a session that is lost.
    case waitsAndRepeats
    /// While the peer cannot be reached: ends if it may have arrived, and waits otherwise.
    case endsIfSent
    /// While the peer cannot be reached: ends, and does not begin.
    case ends
}

/// How many messages, and how many bytes they have.
@usableFromInline
package struct Amount: Sendable, Hashable {
    @usableFromInline package var count: Int
    @usableFromInline package var bytes: Int

    package init(count: Int = 0, bytes: Int = 0) { (self.count, self.bytes) = (count, bytes) }

    mutating func add(_ bytes: Int) { (count, self.bytes) = (count + 1, self.bytes + bytes) }
    mutating func remove(_ bytes: Int) { (count, self.bytes) = (count - 1, self.bytes - bytes) }
}

@usableFromInline
package struct OutgoingCalls: Sendable {
    /// A call that enters the table.
    package struct Call: Sendable {
        package let handle: CallHandle
        package let deadline: Instant
        package let persistence: Persistence
        /// The length of its message, without the end.
        package let length: Int
        /// Whether it names an object that only this session knows. Then it never goes to another session.
        package let isBound: Bool

        @inlinable
        package init(
            _ handle: CallHandle, length: Int, deadline: Instant, _ persistence: Persistence = .waits,
            isBound: Bool = false
        ) {
            (self.handle, self.length, self.deadline, self.persistence) = (handle, length, deadline, persistence)
            self.isBound = isBound
        }
    }

    /// A call that has been removed from the table.
    package struct Removed {
        package let id: Int64
        package let handle: CallHandle
        /// Whether its bytes were given to a channel. If so, this end cannot know what became of the call.
        package let wasSent: Bool
        /// Whether they were given to a channel of this session, so that the peer may have the call and answer it.
        package let isInSession: Bool
        /// The channel over which its reply was awaited; nil if the call waited for a connection.
        package let channel: Int?
        package let length: Int
    }

    private struct Entry {
        var id: Int64
        let call: Call
        /// Where the call begins in its channel; nil while it waits for one.
        var place: ChannelOffset?
        /// Whether a byte of it may have left over a channel that is gone, and its session may go on.
        var mayHaveArrived = false
        /// The same, and the session is lost. The call may run twice, and has begun anew.
        var mayHaveRun = false

        /// Whether it ends with its session.
        var isLost: Bool { call.isBound || mayHaveArrived && call.persistence != .waitsAndRepeats }
        var removed: Removed {
            Removed(
                id: id, handle: call.handle, wasSent: place != nil || mayHaveArrived || mayHaveRun,
                isInSession: place != nil || mayHaveArrived,
                channel: place?.channel,
                length: call.length)
        }

        /// Its session is lost, and another one begins.
        mutating func beginAnew() {
            if mayHaveArrived { mayHaveRun = true }
            mayHaveArrived = false
        }
    }

    /// The calls by their numbers: the last bits of a number are its index, so that nothing is hashed. The count is a power of
    /// two, or 0, and at most half of the places are taken. If a number's place is taken by a long call, the number is skipped.
    private var entries: [Entry?] = []
    private var nextID: Int64 = 1
    @usableFromInline package private(set) var count = 0
    /// About how much memory the calls take.
    private(set) var byteCount = 0
    /// The calls that were given to the counted channel and are not answered, and the lengths of their messages.
    @usableFromInline private(set) var sent = Amount()
    private var countedChannel: Int?

    /// About how much memory a call takes besides its message, here and in its caller.
    static let overhead = 1_024

    package init() {}

    /// The highest number that a call or a post has had.
    package var lastNumber: Int64 { nextID - 1 }

    /// How many places the table has; for tests.
    var placeCount: Int { entries.count }

    /// Returns the next number, for a post. Posts and calls share their numbers, but posts are not in the table.
    package mutating func takeNumber() -> Int64 {
        defer { nextID += 1 }
        return nextID
    }

    /// A call begins, and waits to be sent. Returns its number.
    package mutating func start(_ call: Call) -> Int64 {
        let id = takeNumberOfCall()
        put(Entry(id: id, call: call))
        return id
    }

    /// The call was given to a channel. Returns whether it may also have arrived over another channel, which is gone.
    @discardableResult
    package mutating func sent(_ id: Int64, at place: ChannelOffset) -> Bool {
        guard let index = index(of: id) else { return false }
        entries[index]?.place = place
        if place.channel == countedChannel { sent.add(entries[index]?.call.length ?? 0) }
        return entries[index].map { $0.mayHaveArrived || $0.mayHaveRun } == true
    }

    /// A reply has arrived. Nil if no call waits for it over this channel: the reply is late, or the peer is at fault.
    package mutating func replied(to id: Int64, over channel: Int) -> CallHandle? {
        index(of: id, sentOver: channel).flatMap { take($0)?.call.handle }
    }

    /// The peer refused the call before any work because it is going away. The call waits for another connection, under a new
    /// number, because higher numbers may have gone there already. Nil if no such call was sent.
    package mutating func refused(_ id: Int64, over channel: Int) -> (id: Int64, handle: CallHandle)? {
        index(of: id, sentOver: channel).flatMap { renumber($0) }
    }

    /// The caller has given up. Nil if the call has already ended.
    package mutating func withdraw(_ id: Int64) -> Removed? { index(of: id).flatMap { take($0)?.removed } }

    /// Removes those of the calls without a place in a channel for which `matches` is true.
    package mutating func withdrawWaiting(
        where matches: (_ call: Call, _ mayHaveArrived: Bool) -> Bool
    ) -> [Removed] {
        removeAll { $0.place == nil && matches($0.call, $0.mayHaveArrived) }
    }

    /// Time has passed. Removes the calls whose deadlines are due, in the order in which they were made.
    package mutating func expire(at now: Instant) -> [Removed] {
        defer { releaseRoom(beyond: Self.mostPlacesKept) }
        return removeAll { $0.call.deadline <= now }
    }

    /// A channel is gone after `sent` bytes, and its session is lost. Removes the calls of which a byte had left, except those
    /// that may run twice, and those that are bound to the session. The others wait again under new numbers, as if they had been
    /// refused.
    package mutating func lost(
        channel: Int, sent: UInt64
    ) -> (removed: [Removed], renumbered: [(id: Int64, handle: CallHandle)]) {
        let concerned = numbers { $0.place?.channel == channel }
        interrupted(channel: channel, sent: sent)
        var (removed, renumbered) = ([Removed](), [(id: Int64, handle: CallHandle)]())
        for id in concerned {
            let index = home(id)
            if entries[index]?.isLost == true, let call = take(index) {
                removed.append(call.removed)
                continue
            }
            entries[index]?.beginAnew()
            if let call = renumber(index) { renumbered.append(call) }
        }
        return (removed, renumbered)
    }

    /// A channel is gone after `sent` bytes, but its session may go on. Its calls wait again; `waiting` lists them.
    package mutating func interrupted(channel: Int, sent: UInt64) {
        for index in entries.indices {
            guard let place = entries[index]?.place, place.channel == channel else { continue }
            entries[index]?.place = nil
            if place.offset < sent { entries[index]?.mayHaveArrived = true }
        }
    }

    /// The session goes on over another channel. The peer has all calls up to the number `received`, and answers them there.
    package mutating func resumed(over channel: Int, received: Int64) {
        for index in entries.indices {
            guard let entry = entries[index], entry.place == nil, entry.mayHaveArrived else { continue }
            entries[index]?.mayHaveArrived = false
            if entry.id <= received { entries[index]?.place = ChannelOffset(channel: channel, offset: 0) }
        }
    }

    /// Another session begins. Removes the calls that may have arrived in the former one and may not run twice, and those that
    /// are bound to it.
    package mutating func restarted() -> [Removed] {
        let removed = removeAll { $0.place == nil && $0.isLost }
        for index in entries.indices where entries[index]?.place == nil { entries[index]?.beginAnew() }
        return removed
    }

    /// The session ends. Removes all calls.
    package mutating func removeAll() -> [Removed] { removeAll { _ in true } }

    /// Whether a call is bound to its session; false if it has ended.
    func isBound(_ id: Int64) -> Bool { index(of: id).flatMap { entries[$0]?.call.isBound } ?? false }

    /// The calls that wait to be sent, in the order in which they were made.
    package var waiting: [(id: Int64, handle: CallHandle)] {
        numbers { $0.place == nil }.compactMap { id in entries[home(id)].map { (id, $0.call.handle) } }
    }

    /// The call of that number; nil if it has ended, or was not sent over that channel.
    /// - Parameter channel: nil for any, and for a call that waits.
    func handle(of id: Int64, sentOver channel: Int?) -> CallHandle? {
        let index = if let channel { index(of: id, sentOver: channel) } else { index(of: id) }
        return index.flatMap { entries[$0]?.call.handle }
    }

    /// A call that waits to be sent; nil if it has ended, or was sent.
    func waiting(_ id: Int64) -> Call? {
        index(of: id).flatMap { entries[$0] }.flatMap { $0.place == nil ? $0.call : nil }
    }

    /// The same, under a new number, because higher numbers may have been sent already.
    mutating func renumberWaiting(_ id: Int64) -> (id: Int64, handle: CallHandle)? {
        waiting(id) == nil ? nil : index(of: id).flatMap { renumber($0) }
    }

    /// From now on `sent` counts the calls of this channel.
    mutating func count(over channel: Int?) {
        countedChannel = channel
        sent = Amount()
        for case let entry? in entries where channel != nil && entry.place?.channel == channel {
            sent.add(entry.call.length)
        }
    }

    /// Whether one of the calls may have left this end.
    var mayHaveSent: Bool { entries.contains { $0?.removed.wasSent == true } }

    /// Whether a reply may still come over a channel.
    package func isWaiting(on channel: Int) -> Bool {
        entries.contains { $0?.place?.channel == channel }
    }

    /// The earliest deadline in the table.
    package var nextDeadline: Instant? {
        entries.lazy.compactMap { $0?.call.deadline }.min()
    }
}

// MARK: where the calls stand

extension OutgoingCalls {
    private func home(_ id: Int64) -> Int { Int(truncatingIfNeeded: id) & (entries.count - 1) }

    /// The index of a call that has not ended.
    private func index(of id: Int64) -> Int? {
        guard count > 0 else { return nil }
        let index = home(id)
        return entries[index]?.id == id ? index : nil
    }

    private func index(of id: Int64, sentOver channel: Int) -> Int? {
        index(of: id).flatMap { entries[$0]?.place?.channel == channel ? $0 : nil }
    }

    /// Returns the next number whose place is free.
    private mutating func takeNumberOfCall() -> Int64 {
        if count * 2 >= entries.count { grow() }
        while entries[home(nextID)] != nil { nextID += 1 }
        return takeNumber()
    }

    private mutating func put(_ entry: Entry) {
        entries[home(entry.id)] = entry
        count += 1
        byteCount += entry.call.length + Self.overhead
    }

    private mutating func take(_ index: Int) -> Entry? {
        guard let entry = entries[index].take() else { return nil }
        count -= 1
        byteCount -= entry.call.length + Self.overhead
        if let place = entry.place, place.channel == countedChannel { sent.remove(entry.call.length) }
        return entry
    }

    private mutating func renumber(_ index: Int) -> (id: Int64, handle: CallHandle)? {
        guard var entry = take(index) else { return nil }
        entry.id = takeNumberOfCall()
        entry.place = nil
        put(entry)
        return (entry.id, entry.call.handle)
    }

    private mutating func removeAll(where matches: (Entry) -> Bool) -> [Removed] {
        numbers(where: matches).compactMap { take(home($0))?.removed }
    }

    private func numbers(where matches: (Entry) -> Bool) -> [Int64] {
        entries.compactMap { entry in entry.flatMap { matches($0) ? $0.id : nil } }.sorted()
    }

    /// Doubles the places. Two calls that had different places have different places in the larger table too.
    private mutating func grow() {
        let old = entries
        entries = Array(repeating: nil, count: max(16, old.count * 2))
        for case let entry? in old { entries[home(entry.id)] = entry }
    }

    /// How many places an empty table keeps at most, because each search for a deadline looks at all of them.
    private static let mostPlacesKept = 1_024

    /// Gives the memory back, if the table is empty and has more places than this.
    mutating func releaseRoom(beyond most: Int) {
        if count == 0, entries.count > most { entries = [] }
    }
}
