// Has loops looked at whose threads run foreign code, and limits how many threads such code may keep at a time: for the loops
// of one server, for example.
//
// A loop is looked at from its first loan on, for as long as looks keep seeing loans. So an idle process is never woken for it.

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

    private struct Kept {
        /// Threads that were replaced, or are about to be, since when.
        var threads: [UInt: Instant] = [:]
        /// The owner has been told that no further thread may be kept.
        var isFull = false
    }

    /// How long a look is after the one before it, at least. A loan is overdue when two looks have seen it, and so after this time at
    /// the earliest. That is longer than a thread usually waits for a processor.
    private static let millisecondsBetweenLooks: Int64 = 4
    /// The thread that looks after the loops of the whole process.
    private static let lookout = EventLoop(lateName: "rpc-watch")

    private let maximumBlockedThreads: Int
    private let events: Events
    private let looksBySelf: Bool
    private let kept = Lock(Kept())
    /// Whether another thread may be kept; for frequent questions.
    private let room: Atomic<Bool>

    /// - Parameter looksBySelf: whether it looks by itself. In tests loops may be looked at only when the test says so.
    package init(maximumBlockedThreads: Int, events: Events = Events(), looksBySelf: Bool = true) {
        self.maximumBlockedThreads = maximumBlockedThreads
        self.events = events
        self.looksBySelf = looksBySelf
        room = Atomic(maximumBlockedThreads > 0)
    }

    /// Looks at a loop whose thread has just lent it, and goes on until a look says that it is enough. Looks come at whole
    /// milliseconds, so that the process is not woken for each of many loops.
    func watch(_ loop: EventLoop) {
        guard looksBySelf else { return }
        let now = MonotonicClock.now.nanoseconds / 1_000_000
        let next = Instant(nanoseconds: (now + 1 + Self.millisecondsBetweenLooks) * 1_000_000)
        Self.lookout.schedule(at: next) { [self] in if loop.look() { watch(loop) } }
    }

    var hasRoom: Bool { room.load(ordering: .relaxed) }
    /// How many threads are kept; for tests.
    var keptThreads: Int { kept.withLock { $0.threads.count } }

    /// Notes that a thread is to be replaced. Answers whether it may be.
    func admits(_ thread: UInt) -> Bool {
        let (isAdmitted, isNewlyFull) = kept.withLock { kept -> (Bool, Bool) in
            // Its replacement is on its way.
            guard kept.threads[thread] == nil else { return (false, false) }
            let wasFull = kept.isFull
            kept.isFull = kept.threads.count >= maximumBlockedThreads
            if kept.isFull { return (false, !wasFull) }
            kept.threads[thread] = MonotonicClock.now
            noteRoom(kept)
            return (true, false)
        }
        if isNewlyFull {
            events.waits(
                .maximumBlockedThreads,
                "objects that block keep as many threads as may be replaced: \(maximumBlockedThreads) (maximumBlockedThreads)"
            )
        }
        return isAdmitted
    }

    /// The replacement has the loop.
    func tookOver() { events.tookOver() }

    func cannotReplace(_ thread: UInt, because why: String) {
        returned(thread)
        events.waits(nil, why)
    }

    /// The thread goes on, before or after it was replaced.
    func returned(_ thread: UInt) {
        kept.withLock { kept in
            kept.threads[thread] = nil
            noteRoom(kept)
        }
    }

    /// Since when a thread has been replaced.
    func lostSince(_ thread: UInt) -> Instant? { kept.withLock { $0.threads[thread] } }

    private func noteRoom(_ kept: Kept) {
        room.store(kept.threads.count < maximumBlockedThreads, ordering: .relaxed)
    }
}
