// The driver of `LockLine`: calls, posts and holds take their turns with a subject.

import RPCSockets
import RPCWire

/// A lock before a subject. A hold is a lock inside another one: what is called under it takes turns there, and the hold leaves
/// the outer lock when it is closed and the last turn under it is over.
final class SubjectLock: Sendable {
    /// A waiter is told whether it is inside. If not, the lock is a hold that has ended.
    typealias Line = LockLine<WaitingTask<Bool>>

    /// What a task that is inside has and gives back.
    struct Turn: Sendable {
        let access: Line.Access
        let task: Int
    }

    private struct State {
        var line = Line()
        var keptPosts = 0
        /// The hold that is inside.
        var hold: SubjectLock?
        var lease: (any LoopTimer)?
        /// Whether this is a hold that has left the outer lock.
        var isOver = false

        /// Enters, or takes a place in the line.
        /// - Parameter mostPosts: of a post, how many may wait. Where as many do, it gets no place.
        mutating func enter(_ turn: Turn, mostPosts: Int? = nil) -> (
            Line.Entry, (task: WaitingTask<Bool>, ticket: Int)?
        ) {
            let entry = line.enter(turn.access, by: turn.task)
            guard case .mustWait = entry, keptPosts < mostPosts ?? .max else { return (entry, nil) }
            if mostPosts != nil { keptPosts += 1 }
            let task = WaitingTask<Bool>()
            return (entry, (task, line.join(turn.access, by: turn.task, task)))
        }

        /// The next that is to be let in, and whether the last has just left a closed hold.
        mutating func next() -> (Line.Place?, ends: Bool) {
            let next = line.next()
            let ends = !isOver && line.isClosed && line.isEmpty
            if ends { isOver = true }
            return (next, ends)
        }
    }

    private let options: Locking
    private let clock: any Loop
    /// For a hold, the lock that it is inside.
    private let outer: SubjectLock?
    private let state = Lock(State())

    init(_ options: Locking, clock: any Loop, outer: SubjectLock? = nil) {
        self.options = options
        self.clock = clock
        self.outer = outer
    }

    /// Returns when the calling task is inside. It then has to `leave`.
    /// - Throws: `RPCError` at the deadline, when the task is inside already, or when this is a hold that has ended;
    ///   `CancellationError` as soon as the task is cancelled.
    func enter(_ access: Line.Access) async throws -> Turn {
        let turn = Turn(access: access, task: Self.currentTask)
        let (entry, place) = state.withLock { $0.enter(turn) }
        switch entry {
        case .entered: break
        case .isInside:
            throw RPCError(
                .busy,
                "the call would wait for the call in which it is made: the subject calls itself through its own lock; "
                    + "give it a proxy from inside the lock", outcome: .notExecuted)
        case .isClosed: throw RPCError.holdEnded
        case .mustWait: if let place { try await wait(place.task, place.ticket) }
        }
        return turn
    }

    /// The address of the running task. Its hash would do too, but takes as long to find as the lock itself.
    private static var currentTask: Int {
        withUnsafeCurrentTask { task in task.map { unsafeBitCast($0, to: Int.self) } ?? Line.noTask }
    }

    private func wait(_ task: WaitingTask<Bool>, _ ticket: Int) async throws {
        do {
            guard let isInside = try await task.wait(until: clock.deadline(orAfter: options.timeout), on: clock) else {
                throw RPCError(
                    .deadlineExceeded,
                    "the time allowed for the call was over before its turn with the locked subject came",
                    outcome: .notExecuted)
            }
            if !isInside { throw RPCError.holdEnded }
        } catch {
            // Those behind may have waited for this one only.
            advance { $0.line.withdraw(ticket) }
            throw error
        }
    }

    /// Lets the next ones in.
    func leave(_ turn: Turn) { advance { $0.line.leave(turn.access, by: turn.task) } }

    /// Delivers a post at once if nothing is in the way, else later and in its turn.
    /// - Returns: why it is not delivered at all. Nil if it is.
    func post(now: () -> Void, later: () -> @Sendable () async -> Void) -> String? {
        let turn = Turn(access: .changing, task: Line.noTask)
        let (entry, place) = state.withLock { $0.enter(turn, mostPosts: options.maximumKeptPosts) }
        switch entry {
        case .entered:
            now()
            leave(turn)
        case .isClosed: return "the hold under which it was made has ended"
        case .mustWait, .isInside:
            guard let place else {
                return "\(options.maximumKeptPosts) posts wait for their turn already (maximumKeptPosts)"
            }
            let deliver = later()
            Task { [self] in
                _ = try? await place.task.wait(until: .distantFuture, on: clock)
                await deliver()
                advance { state in
                    state.keptPosts -= 1
                    state.line.leave(turn.access, by: turn.task)
                }
            }
        }
        return nil
    }

    /// Takes the subject and returns a lock inside this one, for what is called under the hold.
    func hold(for lease: Duration) async throws -> SubjectLock {
        guard lease <= options.maximumLease else {
            throw RPCError(
                .invalidArguments,
                "a lease of \(lease) was asked for; it may last \(options.maximumLease) (maximumLease)",
                outcome: .notExecuted)
        }
        _ = try await enter(.holding)
        let hold = SubjectLock(options, clock: clock, outer: self)
        // It keeps the hold, and is cancelled by `close`.
        let timer = clock.schedule(at: clock.now.advanced(by: lease)) { hold.close() }
        hold.state.withLock { $0.lease = timer }
        let isClosed = state.withLock { state in
            state.hold = hold
            return state.line.isClosed
        }
        if isClosed { hold.close() }
        return hold
    }

    /// Ends a hold: calls that wait under it get an error, its posts are still delivered, and when the last is out the
    /// next one has the subject. Any number of times.
    func close() {
        let (refused, inner, lease) = state.withLock { state in
            (state.line.close(), state.hold, state.lease.take())
        }
        lease?.cancel()
        inner?.close()
        for task in refused { _ = task.end(with: false) }
        advance { _ in }
    }

    /// Changes the state, and lets those in that this makes way for.
    private func advance(_ change: (inout State) -> Void) {
        var (next, ends) = state.withLock { state in
            change(&state)
            return state.next()
        }
        while let place = next {
            let isIn = place.waiter.end(with: true)
            (next, ends) = state.withLock { state in
                // One that has given up meanwhile is not inside after all.
                if !isIn { state.line.leave(place.access, by: place.task) }
                return state.next()
            }
        }
        if ends {
            outer?.advance { state in
                state.hold = nil
                state.line.leave(.holding, by: Line.noTask)
            }
        }
    }
}
