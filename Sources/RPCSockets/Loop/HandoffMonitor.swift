// Watches loops whose threads run foreign code, and gives a loop to another thread when such code keeps its thread for long.
// It watches some loops together, those of one server for example, and limits how many threads may be kept at a time.
//
// A loop is watched from its first loan on, for as long as looks keep seeing loans. So an idle process is never woken for it.

package import RPCWire
import Synchronization

package final class HandoffMonitor: Sendable {
    /// What the owner of the loops is told, on any thread.
    package struct Events: Sendable {
        /// Another thread has taken a loop over.
        package var tookOver: @Sendable () -> Void = {}
        /// A loop has to wait for its thread: the limit that says so, if there is one, and the reason.
        package var waits: @Sendable (Limit?, _ why: String) -> Void = { _, _ in }

        package init() {}
    }

    private struct State {
        /// Loops that are being watched.
        var loops: ContiguousArray<EventLoop> = []
        /// A look has been set.
        var isLookSet = false
        /// Threads that were replaced, or are about to be, since when.
        var kept: [UInt: Instant] = [:]
        /// The owner has been told that no further thread may be kept.
        var isFull = false
        var isOver = false

        /// Answers whether a look is to be set now.
        mutating func setLook() -> Bool {
            guard !loops.isEmpty, !isLookSet else { return false }
            isLookSet = true
            return true
        }
    }

    /// A loan is overdue between once and twice this long after it began, which is longer than a thread usually waits for a processor.
    static let timeBetweenLooks = Duration.milliseconds(4)

    /// The thread that looks after the loops of the whole process.
    private static let lookout = EventLoop(lateName: "rpc-watch")

    private let maximumBlockedThreads: Int
    private let events: Events
    private let looksBySelf: Bool
    private let state = Lock(State())
    /// Whether another thread may be kept; for frequent questions.
    private let room: Atomic<Bool>

    /// - Parameter looksBySelf: whether it looks by itself. In tests it may look only when told to.
    package init(maximumBlockedThreads: Int, events: Events = Events(), looksBySelf: Bool = true) {
        self.maximumBlockedThreads = maximumBlockedThreads
        self.events = events
        self.looksBySelf = looksBySelf
        room = Atomic(maximumBlockedThreads > 0)
    }

    /// Watches no loop any more.
    package func end() {
        state.withLock { state in
            state.isOver = true
            state.loops = []
        }
    }

    /// Watches a loop whose thread has just lent it.
    func watch(_ loop: EventLoop) {
        let isFirst = state.withLock { state in
            guard !state.isOver else { return false }
            state.loops.append(loop)
            return state.setLook()
        }
        if isFirst { lookLater() }
    }

    /// Looks once at all loops that are being watched.
    package func look() {
        for loop in state.withLock({ $0.loops }) where !loop.look() {
            state.withLock { state in
                // One entry only: the loop may have been lent again since, and have another.
                if let index = state.loops.firstIndex(where: { $0 === loop }) { state.loops.remove(at: index) }
            }
        }
    }

    private func lookLater() {
        guard looksBySelf else { return }
        let lookout = Self.lookout
        lookout.schedule(at: MonotonicClock.now.advanced(by: Self.timeBetweenLooks)) { [self] in
            state.withLock { $0.isLookSet = false }
            look()
            if state.withLock({ $0.setLook() }) { lookLater() }
        }
    }

    /// How many loops are being watched; for tests.
    var watchedLoops: Int { state.withLock { $0.loops.count } }
    /// How many threads are kept; for tests.
    var keptThreads: Int { state.withLock { $0.kept.count } }
}

// MARK: threads that are kept

extension HandoffMonitor {
    var hasRoom: Bool { room.load(ordering: .relaxed) }

    /// Notes that a thread is to be replaced. Answers whether it may be.
    func admits(_ thread: UInt) -> Bool {
        enum Answer { case yes, no, full }
        let answer = state.withLock { state -> Answer in
            // Its replacement is on its way.
            guard state.kept[thread] == nil else { return .no }
            guard state.kept.count < maximumBlockedThreads else {
                defer { state.isFull = true }
                return state.isFull ? .no : .full
            }
            state.isFull = false
            state.kept[thread] = MonotonicClock.now
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

    /// The thread goes on, before or after it was replaced.
    func returned(_ thread: UInt) {
        state.withLock { state in
            state.kept[thread] = nil
            noteRoom(state)
        }
    }

    /// Since when a thread has been replaced.
    func lostSince(_ thread: UInt) -> Instant? { state.withLock { $0.kept[thread] } }

    private func noteRoom(_ state: State) {
        room.store(state.kept.count < maximumBlockedThreads, ordering: .relaxed)
    }
}
