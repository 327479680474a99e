// The table of the calls that this end is running for its peer. Pure: events in, decisions out, time passed in.
//
// A call is *running*, or *stopping*: cancelled or past its deadline, but its subject has not returned yet. It leaves the table
// only when its subject has returned. Otherwise a peer that calls and cancels without pause could run any number of subjects at
// once. `OutgoingCalls` is its counterpart.

@usableFromInline
package struct IncomingCalls: ~Copyable {
    package enum StartResult: Sendable, Hashable {
        /// Run the call. The slot names it from now on.
        case run(slot: Int)
        /// Refuse the call before any work: the peer has reached this limit of running calls, or of bytes with them.
        case busy(Limit, most: Int)
        /// Refuse the call before any work: this end is finishing.
        case draining
    }

    /// Why a call was told to stop.
    package enum Stop: Sendable, Hashable {
        case cancelled
        case deadline
    }

    /// One slot of the table. Free slots form a chain.
    private struct Entry {
        enum State { case free, running, stopping(Stop) }

        /// Nil for a post, which has no answer and cannot be cancelled by its id.
        private(set) var id: RPCIdentifier?
        private(set) var state: State
        private(set) var deadline: Instant
        /// How many bytes the call holds. In a free slot: the index of the next free slot.
        private var number: Int
        /// The worker that runs the call; nil before it begins.
        private(set) var runner: Unmanaged<AnyObject>?
        private(set) var isPost: Bool

        init(_ id: RPCIdentifier?, isPost: Bool, bytes: Int, deadline: Instant) {
            (self.id, state, self.deadline, number, self.isPost) = (id, .running, deadline, bytes, isPost)
        }

        /// Puts a call into a free slot, and returns the index of the next free slot.
        @inline(__always)
        mutating func fill(_ id: RPCIdentifier?, isPost: Bool, bytes: Int, deadline: Instant) -> Int {
            defer { self = Entry(id, isPost: isPost, bytes: bytes, deadline: deadline) }
            return number
        }

        /// Frees the slot. Nil if it is free already.
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

        /// Returns whether the call must still be run.
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

    /// How many calls may be in the table.
    @usableFromInline package let limit: Int
    @usableFromInline let byteLimit: Int
    private var entries: [Entry] = []
    /// The first free slot; -1 if there is none.
    private var firstFree = -1
    private var isDraining = false

    package init(limit: Int, byteLimit: Int = .max) {
        self.limit = limit
        self.byteLimit = byteLimit
    }

    /// The calls and posts in the table.
    @usableFromInline package private(set) var count = 0
    /// The posts among them, which take no place of a call.
    @usableFromInline private(set) var posts = 0
    /// The bytes that came with the calls of the table, and those that are kept for them until they end.
    @usableFromInline package var held = HeldBytes()

    /// How many slots the table has; for tests.
    var placeCount: Int { entries.count }

    /// Whether the table would refuse the next call because of a limit.
    @inlinable
    package var isFull: Bool { count &- posts >= limit || held.count >= byteLimit }

    /// Whether this end is finishing and no call runs any more.
    package var isDrained: Bool { isDraining && count == 0 }

    /// A request has arrived. Gives it a slot, or says why not.
    /// - Parameter isPost: a post comes here after the posts before it have run. It gets a slot even in a full table and while
    ///   this end is finishing, since no caller could be told of a refusal. Reading from the peer stops while posts wait.
    /// - Parameter bytes: how many bytes of its message are kept for it, besides its id. The last request below the limit may
    ///   be of any length.
    package mutating func start(
        _ id: RPCIdentifier?, isPost: Bool = false, bytes: Int = 0, deadline: Instant
    ) -> StartResult {
        if !isPost {
            guard !isDraining else { return .draining }
            guard count - posts < limit else { return .busy(.maximumRequestsInFlight, most: limit) }
            guard held.count < byteLimit else { return .busy(.maximumBytesInFlight, most: byteLimit) }
        }
        // An id may be as long as a message.
        let bytes = bytes &+ (id?.textCount ?? 0)
        count += 1
        if isPost { posts += 1 }
        held.begin(bytes)
        let slot = firstFree
        if slot >= 0 {
            firstFree = entries[slot].fill(id, isPost: isPost, bytes: bytes, deadline: deadline)
            return .run(slot: slot)
        }
        entries.append(Entry(id, isPost: isPost, bytes: bytes, deadline: deadline))
        return .run(slot: entries.count - 1)
    }

    /// A call is about to run. False if it was told to stop while it waited.
    /// - Parameter runner: the worker that runs it. No reference to it is counted here: it must live for as long as the call
    ///   runs.
    package mutating func begin(slot: Int, by runner: Unmanaged<AnyObject>) -> Bool {
        entries.indices.contains(slot) && entries[slot].begin(by: runner)
    }

    /// The worker that runs the call; nil before the call has begun.
    package func runner(of slot: Int) -> Unmanaged<AnyObject>? {
        entries.indices.contains(slot) ? entries[slot].runner : nil
    }

    /// The subject has returned, so the slot is free. Returns why the call had been told to stop; nil if it had not.
    package mutating func finish(slot: Int) -> Stop? {
        guard entries.indices.contains(slot), let ended = entries[slot].clear(next: firstFree) else { return nil }
        firstFree = slot
        count -= 1
        if entries[slot].isPost { posts -= 1 }
        held.end(ended.bytes)
        return ended.stop
    }

    /// The peer has cancelled a call. Returns the slot to stop. Nil if the call is unknown, finished or already stopping.
    package mutating func cancel(_ id: RPCIdentifier) -> Int? {
        guard let slot = entries.firstIndex(where: { $0.isRunning && $0.id == id }) else { return nil }
        entries[slot].stop(.cancelled)
        return slot
    }

    /// Time has passed. Returns the slots whose deadlines are due and that must stop now.
    package mutating func expire(at now: Instant) -> [Int] {
        stop(.deadline) { $0.deadline <= now }
    }

    /// The session is over. Returns the slots to stop: all of them, since no answer is awaited any more.
    package mutating func sessionEnded() -> [Int] {
        stop(.cancelled) { _ in true }
    }

    /// The peer has left in good order. Returns the slots to stop: no answer is awaited any more, but posts still run.
    package mutating func peerLeft() -> [Int] {
        stop(.cancelled) { $0.id != nil }
    }

    /// This end is finishing: running calls go on, and no new call begins.
    package mutating func drain() { isDraining = true }

    /// Gives the memory back, if the table is empty.
    mutating func releaseRoom() {
        if count == 0 { (entries, firstFree) = ([], -1) }
    }

    /// The earliest deadline of the calls that have not been told to stop.
    package var nextDeadline: Instant? {
        entries.lazy.filter { $0.isRunning && $0.deadline < .distantFuture }.map(\.deadline).min()
    }

    /// Whether a call with this id is in the table, running or stopping.
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
    /// How many of these bytes are answers in batches that are not complete, or never will be.
    private var batched = 0
    /// How many bytes the tally has been told of.
    @usableFromInline var told = 0

    package init() {}

    /// A request begins that holds this many bytes.
    mutating func begin(_ bytes: Int) { count &+= bytes }

    /// A request has ended that held this many bytes.
    mutating func end(_ bytes: Int) { count &-= bytes }

    /// Answers in incomplete batches hold this many bytes more; less if it is negative.
    package mutating func batchesKeep(_ change: Int) {
        batched &+= change
        count &+= change
    }

    /// No batch will be completed any more.
    package mutating func dropBatches() { batchesKeep(-batched) }

    /// Whether the tally must be told, because enough bytes have changed. Asked whenever a request begins or ends.
    @inlinable
    package var hasUnreportedChange: Bool { (count &- told).magnitude >= 4_096 || told != 0 && count == 0 }

    /// Marks all as told, and returns how many bytes more, or less, the tally must count.
    package mutating func tell() -> Int {
        defer { told = count }
        return count &- told
    }
}

/// An amount of bytes that changes often and is part of a total: the total is told only of changes that matter to it.
package struct ReportedBytes: Sendable {
    /// A smaller change is reported later. So each part of the total may be wrong by as much.
    private static let grain = 4_096

    private var reported = 0

    package init() {}

    /// Whether nothing of the amount is in the total.
    package var isZero: Bool { reported == 0 }

    /// The amount is this now.
    /// - Returns: the change that the total must be told; nil if it need not be told yet.
    package mutating func change(to bytes: Int) -> Int? {
        let change = bytes &- reported
        guard change.magnitude >= Self.grain || bytes == 0 && change != 0 else { return nil }
        reported = bytes
        return change
    }
}
