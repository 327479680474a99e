// The calls this end is running for its peer. Pure: events in, decisions out, time passed in.
//
// A call is *running* or *stopping* (cancelled or past its deadline, but its subject has not returned yet). It leaves
// the table only when its subject has returned: a cancelled call keeps its place until then, or a peer that calls and
// cancels without pause would run any number of subjects at once. `OutgoingCalls` is the mirror image.

@usableFromInline
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

    /// One place, which may be free: then it belongs to a chain of free ones.
    private struct Entry {
        enum State { case free, running, stopping(Stop) }

        /// Nil for a post: it has no answer and cannot be cancelled by name.
        private(set) var id: RPCIdentifier?
        private(set) var state: State
        private(set) var deadline: Instant
        /// What it holds; of a free place, which is the next free one.
        private var number: Int
        /// What runs it, since it has begun.
        private(set) var runner: Unmanaged<AnyObject>?

        init(_ id: RPCIdentifier?, bytes: Int, deadline: Instant) {
            (self.id, state, self.deadline, number) = (id, .running, deadline, bytes)
        }

        /// Answers which place is free next.
        @inline(__always)
        mutating func fill(_ id: RPCIdentifier?, bytes: Int, deadline: Instant) -> Int {
            defer { self = Entry(id, bytes: bytes, deadline: deadline) }
            return number
        }

        /// Nil if it is free already.
        @inline(__always)
        mutating func clear(next free: Int) -> (bytes: Int, stop: Stop?)? {
            let ended: (bytes: Int, stop: Stop?)
            switch state {
            case .free: return nil
            case .running: ended = (number, nil)
            case .stopping(let stop): ended = (number, stop)
            }
            (id, state, number, runner) = (nil, .free, free, nil)
            return ended
        }

        /// Answers whether it is still to be run.
        @inline(__always)
        mutating func begin(by runner: Unmanaged<AnyObject>) -> Bool {
            if case .free = state { return false }
            self.runner = runner
            return isRunning
        }

        mutating func stop(_ reason: Stop) { state = .stopping(reason) }

        var isRunning: Bool { if case .running = state { true } else { false } }
        var isStopping: Bool { if case .stopping = state { true } else { false } }
    }

    @usableFromInline let limit: Int
    @usableFromInline let byteLimit: Int
    private var entries: [Entry] = []
    /// The first free place; -1 when there is none.
    private var firstFree = -1
    private var isDraining = false

    package init(limit: Int, byteLimit: Int = .max) {
        self.limit = limit
        self.byteLimit = byteLimit
    }

    @usableFromInline package private(set) var count = 0
    /// What came with those that are here, and what is kept for them until they end.
    @usableFromInline package var held = HeldBytes()

    /// Whether the next call would be refused as one too many.
    @inlinable
    package var isFull: Bool { count >= limit || held.count >= byteLimit }

    /// Whether this end is finishing and nothing runs any more.
    package var isDrained: Bool { isDraining && count == 0 }

    /// A request arrived.
    /// - Parameter isPost: it waits until those before it have run. Then it finds a place in a full table too, and at an end
    ///   that is finishing, since no caller could be told that it did not. Reading from the peer stops when posts wait.
    /// - Parameter bytes: what of its message is kept for it, besides its name. The last one that finds a place may be of
    ///   any length.
    package mutating func start(
        _ id: RPCIdentifier?, isPost: Bool = false, bytes: Int = 0, deadline: Instant
    ) -> Admission {
        if !isPost {
            guard !isDraining else { return .draining }
            guard count < limit else { return .busy(.maximumRequestsInFlight, most: limit) }
            guard held.count < byteLimit else { return .busy(.maximumBytesInFlight, most: byteLimit) }
        }
        // A name may be as long as a message.
        let bytes = bytes &+ (id?.textCount ?? 0)
        count += 1
        held.begin(bytes)
        let slot = firstFree
        if slot >= 0 {
            firstFree = entries[slot].fill(id, bytes: bytes, deadline: deadline)
            return .run(slot: slot)
        }
        entries.append(Entry(id, bytes: bytes, deadline: deadline))
        return .run(slot: entries.count - 1)
    }

    /// It is a call's turn. False when it has been told to stop while it waited.
    /// - Parameter runner: what runs it, and is not counted here: it is there for as long as it does.
    package mutating func begin(slot: Int, by runner: Unmanaged<AnyObject>) -> Bool {
        entries.indices.contains(slot) && entries[slot].begin(by: runner)
    }

    /// What runs the call; nil before it has begun.
    package func runner(of slot: Int) -> Unmanaged<AnyObject>? {
        entries.indices.contains(slot) ? entries[slot].runner : nil
    }

    /// The subject returned. Tells why it had been asked to stop, if it had.
    package mutating func finish(slot: Int) -> Stop? {
        guard entries.indices.contains(slot), let ended = entries[slot].clear(next: firstFree) else { return nil }
        firstFree = slot
        count -= 1
        held.end(ended.bytes)
        return ended.stop
    }

    /// The peer cancelled a call. The slot to stop, or nil: unknown, finished or already stopping; ignored.
    package mutating func cancel(_ id: RPCIdentifier) -> Int? {
        guard let slot = entries.firstIndex(where: { $0.isRunning && $0.id == id }) else { return nil }
        entries[slot].stop(.cancelled)
        return slot
    }

    /// Time passed. The slots whose deadline is due and that must now stop.
    package mutating func expire(at now: Instant) -> [Int] {
        stop(.deadline) { $0.deadline <= now }
    }

    /// The session is over: every call must stop, since its answer is not awaited.
    package mutating func sessionEnded() -> [Int] {
        stop(.cancelled) { _ in true }
    }

    /// The peer has left in good order: no answer is awaited, but what it posted still counts.
    package mutating func peerLeft() -> [Int] {
        stop(.cancelled) { $0.id != nil }
    }

    /// This end is finishing: what runs goes on, no new call begins.
    package mutating func drain() { isDraining = true }

    /// The earliest deadline of a call that has not been told to stop.
    package var nextDeadline: Instant? {
        entries.lazy.filter { $0.isRunning && $0.deadline < .distantFuture }.map(\.deadline).min()
    }

    /// Whether a call with this name runs.
    package func isRunning(_ id: RPCIdentifier) -> Bool { entries.contains { $0.id == id } }

    package func isStopping(slot: Int) -> Bool {
        entries.indices.contains(slot) && entries[slot].isStopping
    }

    private mutating func stop(_ reason: Stop, where matches: (Entry) -> Bool) -> [Int] {
        var stopped: [Int] = []
        for slot in entries.indices where entries[slot].isRunning && matches(entries[slot]) {
            entries[slot].stop(reason)
            stopped.append(slot)
        }
        return stopped
    }
}

@usableFromInline
package struct HeldBytes: Sendable {
    @usableFromInline package private(set) var count = 0
    /// How many of them are answers of batches that are not complete yet, or never will be.
    private var batched = 0
    /// How many the tally has been told of.
    @usableFromInline var told = 0

    package init() {}

    /// A request begins that came with so many.
    mutating func begin(_ bytes: Int) { count &+= bytes }

    /// It has ended.
    mutating func end(_ bytes: Int) { count &-= bytes }

    /// Answers of batches that are not complete keep so many more, or less.
    package mutating func batchesKeep(_ change: Int) {
        batched &+= change
        count &+= change
    }

    /// No batch will be complete any more.
    package mutating func dropBatches() { batchesKeep(-batched) }

    /// Whether the tally is to be told, of which so many make a difference. Asked whenever a request begins or ends.
    @inlinable
    package var hasNews: Bool { (count &- told).magnitude >= 4_096 || told != 0 && count == 0 }

    /// The tally is told: so many more, or less.
    package mutating func tell() -> Int {
        defer { told = count }
        return count &- told
    }
}
