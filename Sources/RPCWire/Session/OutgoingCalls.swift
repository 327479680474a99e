// The calls this end has made and not yet seen the end of. Pure: events in, decisions out, time passed in.
//
// A call is *waiting* (for a connection) or *sent* (its bytes stand in the outgoing queue of a known stream from a
// known offset). It leaves the table exactly once, through whichever of these comes first: its reply, its deadline, its
// caller's cancellation, the loss of the connection, the end of the session. Only the event that removed a call may
// tell its caller; every other event finds nothing and does nothing. `IncomingCalls` is the mirror image.

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
    }

    /// A position in one of the streams that served this end, one after the other.
    package struct Place: Sendable, Hashable {
        package let stream: Int
        package let offset: UInt64

        package init(stream: Int, offset: UInt64) {
            self.stream = stream
            self.offset = offset
        }
    }

    private struct Entry {
        var id: Int64
        var deadline: Instant
        /// Where the call begins in which stream, once it has been given to one.
        var place: Place?
    }

    private var entries: [Entry?] = []
    private var freeSlots: [Int] = []
    private var slots = NumberTable()
    private var nextID: Int64 = 1

    package init() {}

    package var count: Int { slots.count }

    /// A call begins and waits to be sent.
    package mutating func start(deadline: Instant) -> Ticket {
        let id = nextID
        nextID += 1
        let entry = Entry(id: id, deadline: deadline, place: nil)
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

    /// The call was given to a stream.
    package mutating func sent(_ ticket: Ticket, at place: Place) {
        guard contains(ticket) else { return }
        entries[ticket.slot]?.place = place
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

    /// The peer refused the call before any work because it is going away. The call waits for another connection;
    /// nil when no such call was sent.
    package mutating func refused(_ id: Int64, over stream: Int) -> Ticket? {
        guard let slot = slots.slot(of: id), entries[slot]?.place?.stream == stream else { return nil }
        entries[slot]?.place = nil
        return Ticket(id: id, slot: slot)
    }

    /// The caller gave up. Nil when the call has already ended.
    package mutating func withdraw(_ ticket: Ticket) -> Removed? {
        contains(ticket) ? remove(ticket) : nil
    }

    /// Time passed. Removes the calls whose deadline is due, in the order they were made.
    package mutating func expire(at now: Instant) -> [Removed] {
        tickets { $0.deadline <= now }.map { remove($0) }
    }

    /// A stream is gone after `sent` bytes. Removes the calls of which a byte had left; the stream's other calls
    /// wait again, and `waiting` lists them.
    package mutating func lost(stream: Int, sent: UInt64) -> [Removed] {
        let unsent = tickets { $0.place?.stream == stream && $0.place.map { $0.offset >= sent } == true }
        for ticket in unsent { entries[ticket.slot]?.place = nil }
        return tickets { $0.place?.stream == stream }.map { remove($0) }
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

    package func deadline(of ticket: Ticket) -> Instant? {
        contains(ticket) ? entries[ticket.slot]?.deadline : nil
    }

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

    private mutating func remove(_ ticket: Ticket) -> Removed {
        let wasSent = entries[ticket.slot]?.place != nil
        _ = slots.remove(ticket.id)
        return Removed(ticket: release(ticket.slot, ticket.id), wasSent: wasSent)
    }

    private mutating func release(_ slot: Int, _ id: Int64) -> Ticket {
        entries[slot] = nil
        freeSlots.append(slot)
        return Ticket(id: id, slot: slot)
    }
}
