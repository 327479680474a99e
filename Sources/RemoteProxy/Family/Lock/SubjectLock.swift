// The driver of `LockLine`: calls, posts and holds take their turns with a subject. A hold is a lock inside this one:
// those who call under it take turns among themselves, and it leaves when it is closed and the last of them is out.

import RPCSockets
import RPCWire

final class SubjectLock: Sendable {
    typealias Line = LockLine<Waiting>

    enum Waiting: Sendable {
        case task(WaitingTask<Answer>)
        case post(@Sendable () async -> Void)
    }

    enum Answer: Sendable { case entered, isClosed }

    /// What a task has that is inside, and gives back.
    struct Turn: Sendable {
        let access: Line.Access
        let task: Int
    }

    private let options: Locking
    private let clock: any Loop
    /// For a hold, what it holds.
    private let outer: SubjectLock?
    private let state = Lock(State())

    init(_ options: Locking, clock: any Loop, outer: SubjectLock? = nil) {
        self.options = options
        self.clock = clock
        self.outer = outer
    }

    /// Returns when the calling task is inside; it then has to `leave`.
    /// - Throws: `RPCError` at the deadline, when the task is inside already, or when this is a hold that has ended;
    ///   `CancellationError` at once.
    func enter(_ access: Line.Access) async throws -> Turn {
        let turn = Turn(access: access, task: Self.currentTask)
        let (entry, waiting, ticket) = state.withLock { state -> (Line.Entry, WaitingTask<Answer>?, Int) in
            let entry = state.line.enter(access, by: turn.task)
            guard case .mustWait = entry else { return (entry, nil, 0) }
            let waiting = WaitingTask<Answer>()
            return (entry, waiting, state.line.join(access, by: turn.task, .task(waiting)))
        }
        switch entry {
        case .entered: break
        case .isInside: throw RPCError.waitsForItself
        case .isClosed: throw RPCError.holdEnded
        case .mustWait: if let waiting { try await wait(waiting, ticket) }
        }
        return turn
    }

    /// The address of the running task. Its hash would do too, but takes as long to find as the lock itself.
    private static var currentTask: Int {
        withUnsafeCurrentTask { task in task.map { unsafeBitCast($0, to: Int.self) } ?? Line.nobody }
    }

    private func wait(_ task: WaitingTask<Answer>, _ ticket: Int) async throws {
        do {
            guard let answer = try await task.wait(until: clock.deadline(orAfter: options.timeout), on: clock) else {
                throw RPCError.stillLocked
            }
            if case .isClosed = answer { throw RPCError.holdEnded }
        } catch {
            // Those behind may have waited for this one only.
            advance(.gaveUp(ticket: ticket))
            throw error
        }
    }

    /// Lets the next ones in.
    func leave(_ turn: Turn) {
        advance(.left(turn))
    }

    /// Delivers a post at once if nobody is in the way, else later and in its turn; not at all when as many wait as
    /// may, or when this is a hold that has ended: then it returns why.
    func post(now: () -> Void, later: () -> @Sendable () async -> Void) -> String? {
        let turn = Turn(access: .changing, task: Line.nobody)
        let (entry, isKept) = state.withLock { state -> (Line.Entry, Bool) in
            let entry = state.line.enter(turn.access, by: turn.task)
            guard case .mustWait = entry, state.keptPosts < options.maximumKeptPosts else { return (entry, false) }
            state.keptPosts += 1
            _ = state.line.join(turn.access, by: turn.task, .post(later()))
            return (entry, true)
        }
        guard case .entered = entry else {
            if isKept { return nil }
            if case .isClosed = entry { return "the hold under which it was made has ended" }
            return "\(options.maximumKeptPosts) posts wait for their turn already (maximumKeptPosts)"
        }
        now()
        leave(turn)
        return nil
    }

    /// Takes the subject and returns a lock inside this one, for what is called under the hold.
    func hold(for lease: Duration) async throws -> SubjectLock {
        guard lease <= options.maximumLease else { throw RPCError.leaseTooLong(lease, limit: options.maximumLease) }
        _ = try await enter(.holding)
        let hold = SubjectLock(options, clock: clock, outer: self)
        // Strong, and cancelled by `close`.
        let timer = clock.schedule(at: clock.now.advanced(by: lease)) { hold.close() }
        hold.state.withLock { $0.lease = timer }
        let isClosed = state.withLock { state in
            state.hold = hold
            return state.line.isClosed
        }
        if isClosed { hold.close() }
        return hold
    }

    /// Ends a hold: those that wait under it get an error, its posts are still delivered, and when the last is out the
    /// next one has the subject. Any number of times.
    func close() {
        let (refused, inner, lease) = state.withLock { state in
            let refused = state.line.close { if case .post = $0 { true } else { false } }
            defer { state.lease = nil }
            return (refused, state.hold, state.lease)
        }
        lease?.cancel()
        inner?.close()
        for case .task(let task) in refused { _ = task.end(with: .isClosed) }
        advance(.closed)
    }

    /// Lets an event happen, and in whoever it makes way for.
    private func advance(_ event: Event) {
        var (next, ends) = state.withLock { $0.after(event) }
        while let place = next {
            // One that has given up meanwhile is not inside after all.
            let isIn = admit(place.waiter)
            let turn = Turn(access: place.access, task: place.task)
            (next, ends) = state.withLock { $0.after(isIn ? .nothing : .left(turn)) }
        }
        if ends { outer?.advance(.holdEnded) }
    }

    private func admit(_ waiter: Waiting) -> Bool {
        switch waiter {
        case .task(let task): return task.end(with: .entered)
        case .post(let deliver):
            Task { [self] in
                await deliver()
                advance(.delivered)
            }
            return true
        }
    }
}
