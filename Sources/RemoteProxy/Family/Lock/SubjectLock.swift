// Drives `LockLine`: calls, posts and holds take turns at a subject.

import RPCSockets
import RPCWire

/// A lock in front of a subject. A hold is a lock inside another one: calls under the hold take turns there. The hold leaves
/// the outer lock when it is closed and its last turn is over.
final class SubjectLock: Sendable {
    /// A waiting task gets true when it is inside, and false if the lock is a hold that has ended.
    typealias Line = LockLine<WaitingTask<Bool>>

    /// The turn of a task that is inside. The task has to give it to `leave`.
    struct Turn: Sendable {
        let access: Line.Access
        let task: Int
        /// The tasks that wait for this one, through calls back and forth.
        var waiting: [Int] = []
    }

    private struct State {
        var line: Line
        var keptPosts = 0
        /// The hold that is inside, if any.
        var hold: SubjectLock?
        var lease: (any LoopTimer)?
        /// Whether this is a hold that has left the outer lock.
        var isOver = false

        /// Enters, or takes a place in the line.
        /// - Parameter mostPosts: for a post, how many may wait. If as many do, the post gets no place.
        mutating func enter(_ turn: Turn, mostPosts: Int? = nil) -> (
            Line.Entry, (task: WaitingTask<Bool>, ticket: Int)?
        ) {
            let entry = line.enter(turn.access, by: turn.task, for: turn.waiting)
            guard case .mustWait = entry, keptPosts < mostPosts ?? .max else { return (entry, nil) }
            if mostPosts != nil { keptPosts += 1 }
            let task = WaitingTask<Bool>()
            return (entry, (task, line.join(turn.access, by: turn.task, task)))
        }

        /// Returns the next place to let in, and whether the last turn under a closed hold has just ended.
        mutating func next() -> (Line.Place?, ends: Bool) {
            let next = line.next()
            let ends = !isOver && line.isClosed && line.isEmpty
            if ends { isOver = true }
            return (next, ends)
        }
    }

    private let options: LockPolicy
    private let clock: any Loop
    /// For a hold, the lock around it.
    private let outer: SubjectLock?
    private let state: Lock<State>

    init(_ options: LockPolicy, clock: any Loop, outer: SubjectLock? = nil) {
        self.options = options
        self.clock = clock
        self.outer = outer
        // Calls under a hold run one at a time, as if they were made without the lock.
        state = Lock(State(line: Line(places: outer == nil ? options.places : 1)))
    }

    /// Returns when the calling task is inside. The task then has to `leave`.
    /// - Throws: `RPCError` at the deadline, if the task is inside already, or if this is a hold that has ended;
    ///   `CancellationError` as soon as the task is cancelled.
    func enter(_ access: Line.Access) async throws -> Turn {
        let turn = Turn(
            access: access, task: RunningTask.address, waiting: CallScope.current?.served?.waitingTasks ?? [])
        let (entry, place) = state.withLock { $0.enter(turn) }
        switch entry {
        case .entered: break
        case .isInside:
            throw RPCError(
                .busy,
                "the call would wait for the call in which it is made: the subject calls itself through its own lock; "
                    + "call the object itself, or a proxy without .locked()", outcome: .notExecuted)
        case .isClosed: throw RPCError.holdEnded
        case .mustWait: if let place { try await wait(place.task, place.ticket) }
        }
        return turn
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
            // Places behind it may have waited for this one only.
            advance { $0.line.withdraw(ticket) }
            throw error
        }
    }

    /// Ends a turn and lets the next places in.
    func leave(_ turn: Turn) { advance { $0.line.leave(turn.access, by: turn.task) } }

    /// Delivers a post at once if nothing is in the way, and otherwise when its turn comes.
    /// - Parameter now: nil for a post that cannot be delivered without waiting for it.
    /// - Returns: why it is dropped; nil if it is not.
    func post(now: (() -> Void)?, later: () throws(NotKept) -> @Sendable () async -> Void) -> String? {
        let turn = Turn(access: .changing, task: Line.noTask)
        let (entry, place) = state.withLock { $0.enter(turn, mostPosts: options.maximumKeptPosts) }
        switch entry {
        case .entered:
            if let now {
                now()
                leave(turn)
                return nil
            }
            do throws(NotKept) {
                let deliver = try later()
                Task { [self] in leave(await run(deliver)) }
            } catch {
                leave(turn)
                return error.why
            }
        case .isClosed: return "the hold under which it was made has ended"
        case .mustWait, .isInside:
            guard let place else {
                return "\(options.maximumKeptPosts) posts wait for their turn already (maximumKeptPosts)"
            }
            let deliver: @Sendable () async -> Void
            do throws(NotKept) {
                deliver = try later()
            } catch {
                // Its turn may have come meanwhile.
                let hasTurn = !place.task.end(with: false)
                advance { state in
                    state.keptPosts -= 1
                    if hasTurn {
                        state.line.leave(turn.access, by: turn.task)
                    } else {
                        state.line.withdraw(place.ticket)
                    }
                }
                return error.why
            }
            Task { [self] in
                _ = try? await place.task.wait(until: .distantFuture, on: clock)
                let turn = await run(deliver)
                state.withLock { $0.keptPosts -= 1 }
                leave(turn)
            }
        }
        return nil
    }

    /// Delivers a post whose turn has come. Returns the turn, which its task has to give to `leave`.
    private func run(_ deliver: () async -> Void) async -> Turn {
        let turn = Turn(access: .changing, task: RunningTask.address)
        state.withLock { $0.line.goOn(in: turn.task) }
        await deliver()
        return turn
    }

    /// Takes the subject and returns a lock inside this one, for calls under the hold.
    func hold(for lease: Duration) async throws -> SubjectLock {
        guard lease <= options.maximumLease else {
            throw RPCError(
                .invalidArguments,
                "a lease of \(lease) was asked for; it may last \(options.maximumLease) (maximumLease)",
                outcome: .notExecuted)
        }
        _ = try await enter(.holding)
        let hold = SubjectLock(options, clock: clock, outer: self)
        // The timer retains the hold. `close` cancels it.
        let timer = clock.schedule(at: clock.now.advanced(by: lease)) { hold.close() }
        hold.state.withLock { $0.lease = timer }
        let isClosed = state.withLock { state in
            state.hold = hold
            return state.line.isClosed
        }
        if isClosed { hold.close() }
        return hold
    }

    /// Ends a hold. Calls that wait under it get an error, and its posts are still delivered. When the last has ended, the
    /// next in line has the subject. May be called more than once.
    func close() {
        let (refused, inner, lease) = state.withLock { state in
            (state.line.close(), state.hold, state.lease.take())
        }
        lease?.cancel()
        inner?.close()
        for task in refused { _ = task.end(with: false) }
        advance { _ in }
    }

    /// Changes the state, then lets each place in that can now enter.
    private func advance(_ change: (inout State) -> Void) {
        var (next, ends) = state.withLock { state in
            change(&state)
            return state.next()
        }
        while let place = next {
            let isIn = place.waiter.end(with: true)
            (next, ends) = state.withLock { state in
                // This task has given up meanwhile, so it is not inside.
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
