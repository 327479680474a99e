// Looks after some loops, those of one server for example, while their threads run code that is not the library's. Knows
// how many threads may be kept by such code at a time. What is seen and done at a look is in `EventLoop+Lending.swift`.

package import RPCWire
import Synchronization

package final class LoopWatch: Sendable {
    /// What the owner of the loops is told, on any thread.
    package struct Events: Sendable {
        /// A loop has been taken over by another thread.
        package var tookOver: @Sendable () -> Void = {}
        /// A loop has to wait for its thread: the limit that says so, if it is one, and why.
        package var waits: @Sendable (Limit?, _ why: String) -> Void = { _, _ in }

        package init() {}
    }

    private struct State {
        /// Those that have been lent lately.
        var loops: ContiguousArray<EventLoop> = []
        /// The threads that another is to go on for, or goes on for until they are back.
        var blocked: [UInt: Absence] = [:]
        /// The owner has been told that there are as many as may be.
        var isFull = false
        var isOver = false
    }

    private let maximumBlockedThreads: Int
    private let events: Events
    private let thread: WatchThread?
    private let state = Lock(State())
    /// Whether another thread may go on for the next that is kept; for those who ask often.
    private let room: Atomic<Bool>

    /// - Parameter thread: has it look; without one it looks when told to.
    package init(maximumBlockedThreads: Int, events: Events = Events(), thread: WatchThread? = nil) {
        self.maximumBlockedThreads = maximumBlockedThreads
        room = Atomic(maximumBlockedThreads > 0)
        self.events = events
        self.thread = thread
    }

    /// No more looks. For the end of the loops.
    package func end() {
        state.withLock { state in
            state.isOver = true
            state.loops = []
        }
    }

    /// One look at all loops that have been lent lately. Answers when there is to be another, if at all.
    @discardableResult
    package func look() -> Duration? {
        var next = EventLoop.timeBetweenLooks
        for loop in state.withLock({ $0.loops }) {
            if let time = loop.look() { next = min(next, time) } else { lookAway(from: loop) }
        }
        return loopsInSight > 0 ? next : nil
    }

    private func lookAway(from loop: EventLoop) {
        state.withLock { state in
            // Once: it may be lent again by now, and stand there a second time.
            if let index = state.loops.firstIndex(where: { $0 === loop }) { state.loops.remove(at: index) }
        }
    }

    /// A loop has been lent that nobody looks at.
    func attend(to loop: EventLoop) {
        let isFirst = state.withLock { state in
            guard !state.isOver else { return false }
            state.loops.append(loop)
            return state.loops.count == 1
        }
        if isFirst { thread?.look(for: self) }
    }

    /// How many loops are being looked at.
    var loopsInSight: Int { state.withLock { $0.loops.count } }
    /// How many threads are not back; for tests.
    var blockedThreads: Int { state.withLock { $0.blocked.count } }
}

// MARK: threads that are kept

extension LoopWatch {
    /// Whether another thread is to go on for this one. For one that sleeps as many as may be; for one that runs only if no
    /// other of its loop does: two that compute need as long as one after the other, and on a machine that is late with all
    /// threads each that is replaced would make the others later.
    func admits(_ absence: Absence, of thread: UInt) -> Bool {
        enum Answer { case yes, no, full }
        let answer = state.withLock { state -> Answer in
            // One is on its way.
            guard state.blocked[thread] == nil else { return .no }
            if absence.isRunning, state.blocked.values.contains(where: { $0.isRunning && $0.loop == absence.loop }) {
                return .no
            }
            guard state.blocked.count < maximumBlockedThreads else {
                defer { state.isFull = true }
                return state.isFull ? .no : .full
            }
            state.isFull = false
            state.blocked[thread] = absence
            noteRoom(state)
            return .yes
        }
        if answer == .full {
            events.waits(
                .maximumBlockedThreads,
                "objects that block keep as many threads as may be replaced: \(maximumBlockedThreads) (maximumBlockedThreads)"
            )
        }
        return answer == .yes
    }

    /// The replacement has the loop.
    func tookOver() { events.tookOver() }

    func cannotReplace(_ thread: UInt, because why: String) {
        returned(thread)
        events.waits(nil, why)
    }

    /// The thread is back, before it was replaced or after.
    func returned(_ thread: UInt) {
        state.withLock { state in
            state.blocked[thread] = nil
            noteRoom(state)
        }
    }

    var hasRoom: Bool { room.load(ordering: .relaxed) }

    private func noteRoom(_ state: State) {
        room.store(state.blocked.count < maximumBlockedThreads, ordering: .relaxed)
    }

    func absence(of thread: UInt) -> Absence? { state.withLock { $0.blocked[thread] } }
}
