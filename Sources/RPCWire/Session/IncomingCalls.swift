// The calls this end is running for its peer. Pure: events in, decisions out, time passed in.
//
// A call is *running* or *stopping* (cancelled or past its deadline, but its subject has not returned yet). It leaves
// the table only when its subject has returned: a cancelled call keeps its place until then, or a peer that calls and
// cancels without pause would run any number of subjects at once. `OutgoingCalls` is the mirror image.

package struct IncomingCalls: ~Copyable {
    package enum Admission: Sendable, Hashable {
        /// Run it; the slot names it from now on.
        case run(slot: Int)
        /// Refuse it before any work: the peer has this many calls running, or this many bytes with them.
        case busy(Limit, most: Int)
        /// Refuse it before any work: this end is finishing.
        case draining
    }

    /// Why a call was told to stop.
    package enum Stop: Sendable, Hashable {
        case cancelled
        case deadline
    }

    private struct Entry {
        /// Nil for a post: it has no answer and cannot be cancelled by name.
        var id: RPCIdentifier?
        var deadline: Instant
        var stop: Stop?
        var bytes: Int
    }

    private let limit: Int
    private let byteLimit: Int
    private var entries: [Entry?] = []
    private var freeSlots: [Int] = []
    private var isDraining = false

    package init(limit: Int, byteLimit: Int = .max) {
        self.limit = limit
        self.byteLimit = byteLimit
    }

    package private(set) var count = 0
    /// What came with those that are here, and what is kept for them until they end.
    package private(set) var byteCount = 0

    /// Whether the next call would be refused as one too many.
    package var isFull: Bool { count >= limit || byteCount >= byteLimit }

    /// Whether this end is finishing and nothing runs any more.
    package var isDrained: Bool { isDraining && count == 0 }

    /// A request arrived.
    /// - Parameter isPost: it waits until those before it have run. Then it finds a place in a full table too, and at an end
    ///   that is finishing, since nobody could be told that it did not; whoever reads from the peer stops when posts wait.
    /// - Parameter bytes: what of its message is kept for it, besides its name. The last one that finds a place may be of
    ///   any length.
    package mutating func start(
        _ id: RPCIdentifier?, isPost: Bool = false, bytes: Int = 0, deadline: Instant
    ) -> Admission {
        if !isPost {
            guard !isDraining else { return .draining }
            guard count < limit else { return .busy(.maximumRequestsInFlight, most: limit) }
            guard byteCount < byteLimit else { return .busy(.maximumBytesInFlight, most: byteLimit) }
        }
        // A name may be as long as a message.
        let bytes = bytes &+ (id?.textCount ?? 0)
        count += 1
        byteCount &+= bytes
        let entry = Entry(id: id, deadline: deadline, stop: nil, bytes: bytes)
        if let slot = freeSlots.popLast() {
            entries[slot] = entry
            return .run(slot: slot)
        }
        entries.append(entry)
        return .run(slot: entries.count - 1)
    }

    /// The subject returned. Tells why it had been asked to stop, if it had.
    package mutating func finish(slot: Int) -> Stop? {
        guard entries.indices.contains(slot), let entry = entries[slot].take() else { return nil }
        freeSlots.append(slot)
        count -= 1
        byteCount &-= entry.bytes
        return entry.stop
    }

    /// Something else is kept for them, or no more.
    package mutating func keep(_ change: Int) { byteCount &+= change }

    /// The peer cancelled a call. The slot to stop, or nil: unknown, finished or already stopping; ignored.
    package mutating func cancel(_ id: RPCIdentifier) -> Int? {
        for slot in entries.indices {
            guard let entry = entries[slot], entry.id == id, entry.stop == nil else { continue }
            entries[slot]?.stop = .cancelled
            return slot
        }
        return nil
    }

    /// Time passed. The slots whose deadline is due and that must now stop.
    package mutating func expire(at now: Instant) -> [Int] {
        stop(.deadline) { $0.deadline <= now }
    }

    /// The session is over: every call must stop, since nobody waits for its answer.
    package mutating func sessionEnded() -> [Int] {
        stop(.cancelled) { _ in true }
    }

    /// The peer has left in good order: nobody waits for an answer, but what it posted still counts.
    package mutating func peerLeft() -> [Int] {
        stop(.cancelled) { $0.id != nil }
    }

    /// This end is finishing: what runs goes on, no new call begins.
    package mutating func drain() { isDraining = true }

    /// The earliest deadline of a call that has not been told to stop.
    package var nextDeadline: Instant? {
        entries.lazy.compactMap { $0 }.filter { $0.stop == nil && $0.deadline < .distantFuture }.map(\.deadline).min()
    }

    /// Whether a call with this name runs.
    package func isRunning(_ id: RPCIdentifier) -> Bool { entries.contains { $0?.id == id } }

    package func isStopping(slot: Int) -> Bool {
        entries.indices.contains(slot) && entries[slot]?.stop != nil
    }

    private mutating func stop(_ reason: Stop, where matches: (Entry) -> Bool) -> [Int] {
        var stopped: [Int] = []
        for slot in entries.indices {
            guard let entry = entries[slot], entry.stop == nil, matches(entry) else { continue }
            entries[slot]?.stop = reason
            stopped.append(slot)
        }
        return stopped
    }
}
