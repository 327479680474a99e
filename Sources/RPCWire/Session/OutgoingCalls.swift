// The calls this end has made and not yet seen the end of. Pure: events in, decisions out, time passed in.
//
// A call is *waiting* (for a connection) or *sent* (its bytes stand in the outgoing queue of a known stream from a
// known offset). It leaves the table exactly once, through whichever of these comes first: its reply, its deadline, its
// caller's cancellation, the loss of the session. Only the event that removed a call may tell its caller; every other
// event finds nothing and does nothing. When only a connection is lost its calls wait again under the numbers they
// have, and remember that they may have arrived. `IncomingCalls` is the mirror image.
//
// All that a call needs is inlinable, since a generic type of another module is otherwise called through its metadata.

/// - Parameter Kept: what the driver keeps of each; best what is not counted, since an entry is copied to be looked at.
@usableFromInline
package struct OutgoingCalls<Kept> {
    /// What removing a call found out about it.
    @usableFromInline
    package struct Removed {
        @usableFromInline package let id: Int64
        @usableFromInline package let kept: Kept
        /// Whether its bytes were given to a stream, so that nobody here can say what became of it.
        @usableFromInline package let wasSent: Bool
        /// The stream over which its reply was awaited.
        @usableFromInline package let stream: Int?

        @inlinable
        init(_ entry: Entry) {
            (id, kept, wasSent, stream) = (entry.id, entry.kept, entry.wasSent, entry.place?.stream)
        }
    }

    @usableFromInline
    struct Entry {
        @usableFromInline var id: Int64
        @usableFromInline let kept: Kept
        @usableFromInline let deadline: Instant
        /// Whether running it twice is as good as once.
        @usableFromInline let isRepeatable: Bool
        /// Where the call begins in which stream, once it has been given to one.
        @usableFromInline var place: StreamPlace?
        /// A byte of it may have left over a stream that is gone.
        @usableFromInline var mayHaveArrived = false

        @inlinable
        init(_ id: Int64, _ kept: Kept, _ deadline: Instant, _ isRepeatable: Bool) {
            (self.id, self.kept, self.deadline, self.isRepeatable) = (id, kept, deadline, isRepeatable)
        }

        @inlinable var wasSent: Bool { place != nil || mayHaveArrived }
        @inlinable var isLost: Bool { mayHaveArrived && !isRepeatable }
    }

    /// A power of two of them, at most half of which are taken; none before the first call.
    @usableFromInline var entries: [Entry?] = []
    /// The number of the next call, or a later one if its place is taken then.
    @usableFromInline package internal(set) var nextID: Int64 = 1
    @usableFromInline package internal(set) var count = 0

    package init() {}

    /// The next number, which is nobody else's: for a post, which shares the numbers of the calls but not their table.
    @inlinable
    package mutating func takeNumber() -> Int64 {
        defer { nextID += 1 }
        return nextID
    }

    /// A call begins and waits to be sent.
    @inlinable
    package mutating func start(_ kept: Kept, deadline: Instant, isRepeatable: Bool = false) -> Int64 {
        let id = takeNumberOfCall()
        enter(Entry(id, kept, deadline, isRepeatable))
        return id
    }

    /// The call was given to a stream. Answers whether it may have arrived over one that is gone.
    @discardableResult @inlinable
    package mutating func sent(_ id: Int64, at place: StreamPlace) -> Bool {
        guard let index = index(of: id), var entry = entries[index] else { return false }
        entry.place = place
        entries[index] = entry
        return entry.mayHaveArrived
    }

    /// A reply arrived. Nil when no such call is waiting for one: the peer's fault or a late reply; ignored.
    @inlinable
    package mutating func replied(to id: Int64, over stream: Int) -> Kept? {
        // After a reply to what was never asked there the call goes on waiting.
        index(of: id, sentOver: stream).flatMap { take($0)?.kept }
    }

    /// The peer refused the call before any work because it is going away. The call waits for another connection, under
    /// a new number: higher ones may have gone there already. Nil when no such call was sent.
    @inlinable
    package mutating func refused(_ id: Int64, over stream: Int) -> (id: Int64, kept: Kept)? {
        index(of: id, sentOver: stream).flatMap { renumber($0) }
    }

    /// The caller gave up. Nil when the call has already ended.
    @inlinable
    package mutating func withdraw(_ id: Int64) -> Removed? { index(of: id).flatMap { remove($0) } }

    /// Takes out those of the calls that wait for a connection which the body names.
    @inlinable
    package mutating func withdrawWaiting(where matches: (Kept, _ mayHaveArrived: Bool) -> Bool) -> [Removed] {
        removeAll { $0.place == nil && matches($0.kept, $0.mayHaveArrived) }
    }

    /// Time passed. Removes the calls whose deadline is due, in the order they were made.
    @inlinable
    package mutating func expire(at now: Instant) -> [Removed] {
        defer { letGoOfRoom() }
        return removeAll { $0.deadline <= now }
    }

    /// A stream is gone after `sent` bytes, and with it the session. Removes the calls of which a byte had left, but for
    /// those that may be repeated; the others wait again, under new numbers as if they had been refused.
    @inlinable
    package mutating func lost(stream: Int, sent: UInt64) -> [Removed] {
        let concerned = numbers { $0.place?.stream == stream }
        interrupted(stream: stream, sent: sent)
        return concerned.compactMap { id in
            let index = home(id)
            if entries[index]?.isLost == true { return remove(index) }
            _ = renumber(index)
            return nil
        }
    }

    /// A stream is gone after `sent` bytes, but the session may go on: its calls wait, and `waiting` lists them.
    @inlinable
    package mutating func interrupted(stream: Int, sent: UInt64) {
        for index in entries.indices {
            guard let place = entries[index]?.place, place.stream == stream else { continue }
            entries[index]?.place = nil
            if place.offset < sent { entries[index]?.mayHaveArrived = true }
        }
    }

    /// The session goes on over another stream. The peer has all calls up to this number and answers them there.
    @inlinable
    package mutating func resumed(over stream: Int, received: Int64) {
        for index in entries.indices {
            guard let entry = entries[index], entry.place == nil, entry.mayHaveArrived else { continue }
            entries[index]?.mayHaveArrived = false
            if entry.id <= received { entries[index]?.place = StreamPlace(stream: stream, offset: 0) }
        }
    }

    /// The session does not go on, another one begins. Removes the calls that may have arrived and may not be repeated.
    @inlinable
    package mutating func restarted() -> [Removed] { removeAll { $0.place == nil && $0.isLost } }

    /// The session ends. Removes every call.
    @inlinable
    package mutating func removeAll() -> [Removed] { removeAll { _ in true } }

    /// The calls that wait to be sent, in the order they were made.
    @inlinable
    package var waiting: [(id: Int64, kept: Kept)] {
        numbers { $0.place == nil }.compactMap { id in entries[home(id)].map { (id, $0.kept) } }
    }

    /// Whether a reply may still come over a stream.
    @inlinable
    package func isWaiting(on stream: Int) -> Bool {
        entries.contains { $0?.place?.stream == stream }
    }

    /// The earliest deadline in the table.
    @inlinable
    package var nextDeadline: Instant? {
        entries.lazy.compactMap { $0?.deadline }.min()
    }
}
