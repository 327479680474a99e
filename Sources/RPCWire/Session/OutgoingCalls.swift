// The calls this end has made and not yet seen the end of. Pure: events in, decisions out, time passed in.
//
// A call is *waiting* (for a connection) or *sent* (its bytes stand in the outgoing queue of a known stream from a
// known offset). It leaves the table exactly once, through whichever of these comes first: its reply, its deadline, its
// caller's cancellation, the loss of the session. Only the event that removed a call may tell its caller; every other
// event finds nothing and does nothing. When only a connection is lost its calls wait again under the numbers they
// have, and remember that they may have arrived. `IncomingCalls` is the mirror image.

@usableFromInline
package struct OutgoingCalls {
    /// A call in the table: its number on the wire, and a small index that the driver keeps its own things under.
    package struct Ticket: Sendable, Hashable {
        package let id: Int64
        package let slot: Int
    }

    /// What removing a call found out about it.
    package struct Removed: Sendable, Hashable {
        package let ticket: Ticket
        /// Whether its bytes were given to a stream, so that nobody here can say what became of it.
        package let wasSent: Bool
        /// The stream over which its reply was awaited.
        package let stream: Int?
    }

    /// A position in one of the streams that served this end, one after the other.
    @usableFromInline
    package struct Place: Sendable, Hashable {
        @usableFromInline package let stream: Int
        @usableFromInline package let offset: UInt64

        @inlinable package init(stream: Int, offset: UInt64) {
            self.stream = stream
            self.offset = offset
        }
    }

    private struct Entry {
        var id: Int64
        var deadline: Instant
        /// Whether running it twice is as good as once.
        var isRepeatable: Bool
        /// Where the call begins in which stream, once it has been given to one.
        var place: Place?
        /// A byte of it may have left over a stream that is gone.
        var mayHaveArrived = false

        var wasSent: Bool { place != nil || mayHaveArrived }
    }

    private var entries: [Entry?] = []
    private var freeSlots: [Int] = []
    @usableFromInline private(set) var slots = NumberTable()
    private var nextID: Int64 = 1

    package init() {}

    @inlinable package var count: Int { slots.count }

    /// The next number, which is nobody else's: for a post, which shares the numbers of the calls but not their table.
    package mutating func takeNumber() -> Int64 {
        defer { nextID += 1 }
        return nextID
    }

    /// A call begins and waits to be sent.
    package mutating func start(deadline: Instant, isRepeatable: Bool = false) -> Ticket {
        let id = takeNumber()
        let entry = Entry(id: id, deadline: deadline, isRepeatable: isRepeatable)
        let slot: Int
        if let free = freeSlots.popLast() {
            slot = free
            entries[slot] = entry
        } else {
            slot = entries.count
            entries.append(entry)
        }
        slots.insert(id, slot)
        return Ticket(id: id, slot: slot)
    }

    /// The call was given to a stream. Answers whether it may have arrived over one that is gone.
    @discardableResult
    package mutating func sent(_ ticket: Ticket, at place: Place) -> Bool {
        guard contains(ticket), var entry = entries[ticket.slot] else { return false }
        entry.place = place
        entries[ticket.slot] = entry
        return entry.mayHaveArrived
    }

    /// A reply arrived. Nil when no such call is waiting for one: the peer's fault or a late reply; ignored.
    package mutating func replied(to id: Int64, over stream: Int) -> Ticket? {
        guard let slot = slots.remove(id) else { return nil }
        guard entries[slot]?.place?.stream == stream else {
            // A reply to what was never asked there. The call goes on waiting.
            slots.insert(id, slot)
            return nil
        }
        return release(slot, id)
    }

    /// The peer refused the call before any work because it is going away. The call waits for another connection, under
    /// a new number: higher ones may have gone there already. Nil when no such call was sent.
    package mutating func refused(_ id: Int64, over stream: Int) -> Ticket? {
        guard let slot = slots.slot(of: id), entries[slot]?.place?.stream == stream else { return nil }
        return renumber(Ticket(id: id, slot: slot))
    }

    /// The caller gave up. Nil when the call has already ended.
    package mutating func withdraw(_ ticket: Ticket) -> Removed? {
        contains(ticket) ? remove(ticket) : nil
    }

    /// Time passed. Removes the calls whose deadline is due, in the order they were made.
    package mutating func expire(at now: Instant) -> [Removed] {
        tickets { $0.deadline <= now }.map { remove($0) }
    }

    /// A stream is gone after `sent` bytes, and with it the session. Removes the calls of which a byte had left, but for
    /// those that may be repeated; the others wait again, under new numbers as if they had been refused.
    package mutating func lost(stream: Int, sent: UInt64) -> [Removed] {
        let concerned = tickets { $0.place?.stream == stream }
        interrupted(stream: stream, sent: sent)
        return concerned.compactMap { ticket in
            if let removed = removeUnlessRepeatable(ticket) { return removed }
            _ = renumber(ticket)
            return nil
        }
    }

    /// A stream is gone after `sent` bytes, but the session may go on: its calls wait, and `waiting` lists them.
    package mutating func interrupted(stream: Int, sent: UInt64) {
        for slot in entries.indices {
            guard let place = entries[slot]?.place, place.stream == stream else { continue }
            entries[slot]?.place = nil
            if place.offset < sent { entries[slot]?.mayHaveArrived = true }
        }
    }

    /// The session goes on over another stream. The peer has all calls up to this number and answers them there.
    package mutating func resumed(over stream: Int, received: Int64) {
        for slot in entries.indices {
            guard let entry = entries[slot], entry.place == nil, entry.mayHaveArrived else { continue }
            entries[slot]?.mayHaveArrived = false
            if entry.id <= received { entries[slot]?.place = Place(stream: stream, offset: 0) }
        }
    }

    /// The session does not go on, another one begins. Removes the calls that may have arrived and may not be repeated.
    package mutating func restarted() -> [Removed] {
        tickets { $0.place == nil && $0.mayHaveArrived }.compactMap { removeUnlessRepeatable($0) }
    }

    /// The session ends. Removes every call.
    package mutating func removeAll() -> [Removed] {
        tickets { _ in true }.map { remove($0) }
    }

    /// The calls that wait to be sent, in the order they were made.
    package var waiting: [Ticket] { tickets { $0.place == nil } }

    /// Whether a reply may still come over a stream.
    package func isWaiting(on stream: Int) -> Bool {
        entries.contains { $0?.place?.stream == stream }
    }

    /// The earliest deadline in the table.
    package var nextDeadline: Instant? {
        entries.lazy.compactMap { $0?.deadline }.min()
    }

    /// Whether the call has not ended.
    private func contains(_ ticket: Ticket) -> Bool {
        entries.indices.contains(ticket.slot) && entries[ticket.slot]?.id == ticket.id
    }

    private func tickets(where matches: (Entry) -> Bool) -> [Ticket] {
        var found: [Ticket] = []
        for slot in entries.indices {
            if let entry = entries[slot], matches(entry) { found.append(Ticket(id: entry.id, slot: slot)) }
        }
        return found.sorted { $0.id < $1.id }
    }

    private mutating func removeUnlessRepeatable(_ ticket: Ticket) -> Removed? {
        guard let entry = entries[ticket.slot], entry.mayHaveArrived, !entry.isRepeatable else { return nil }
        return remove(ticket)
    }

    private mutating func renumber(_ ticket: Ticket) -> Ticket {
        let id = takeNumber()
        _ = slots.remove(ticket.id)
        slots.insert(id, ticket.slot)
        entries[ticket.slot]?.id = id
        entries[ticket.slot]?.place = nil
        return Ticket(id: id, slot: ticket.slot)
    }

    private mutating func remove(_ ticket: Ticket) -> Removed {
        let entry = entries[ticket.slot]
        _ = slots.remove(ticket.id)
        return Removed(
            ticket: release(ticket.slot, ticket.id), wasSent: entry?.wasSent == true, stream: entry?.place?.stream)
    }

    private mutating func release(_ slot: Int, _ id: Int64) -> Ticket {
        entries[slot] = nil
        freeSlots.append(slot)
        return Ticket(id: id, slot: slot)
    }
}
