// Checks loops whose threads run foreign code, and limits how many threads such code may block at a time. All loops of a server
// share one monitor, for example.
//
// A loop is checked from its first loan on, until some checks in a row have seen no loan. So an idle process is never woken.

package import RPCWire
import Synchronization

package final class HandoffMonitor: Sendable {
    /// Callbacks to the owner of the loops, on any thread.
    package struct Events: Sendable {
        /// Another thread has taken a loop over.
        package var tookOver: @Sendable () -> Void = {}
        /// A blocked thread cannot be replaced, because of a limit or for another reason.
        package var waits: @Sendable (Limit?, _ why: String) -> Void = { _, _ in }

        package init() {}
    }

    private struct Kept {
        /// The blocked threads, each with the time when it was decided to replace it.
        var threads: [UInt: Instant] = [:]
        /// Whether the owner has been told that no further thread may be replaced.
        var isFull = false
    }

    /// The least time between two looks at a loop. A loan needs at least two looks to be overdue, so it lasts at least this
    /// long. That is longer than a thread usually waits for a processor.
    private static let millisecondsBetweenLooks: Int64 = 4
    /// The loop whose thread checks all loops of the process.
    private static let lookout = EventLoop(lateName: "rpc-watch")

    private let maximumBlockedThreads: Int
    private let events: Events
    private let looksBySelf: Bool
    private let kept = Lock(Kept())
    /// Whether another thread may be replaced. Atomic, because it is asked too often for a lock.
    private let room: Atomic<Bool>

    /// - Parameter looksBySelf: false in tests where a loop is looked at only when the test says so.
    package init(maximumBlockedThreads: Int, events: Events = Events(), looksBySelf: Bool = true) {
        self.maximumBlockedThreads = maximumBlockedThreads
        self.events = events
        self.looksBySelf = looksBySelf
        room = Atomic(maximumBlockedThreads > 0)
    }

    /// Starts checking a loop whose thread has just lent it. Continues until `look` returns false. Checks happen at whole
    /// milliseconds, so that one wake-up serves many loops.
    func watch(_ loop: EventLoop) {
        guard looksBySelf else { return }
        let now = MonotonicClock.now.nanoseconds / 1_000_000
        let next = Instant(nanoseconds: (now + 1 + Self.millisecondsBetweenLooks) * 1_000_000)
        Self.lookout.schedule(at: next) { [self] in if loop.look() { watch(loop) } }
    }

    var hasRoom: Bool { room.load(ordering: .relaxed) }
    /// How many threads are blocked and replaced; for tests.
    var keptThreads: Int { kept.withLock { $0.threads.count } }

    /// Decides whether this thread may be replaced. If so, it is noted as blocked.
    func admits(_ thread: UInt) -> Bool {
        let (isAdmitted, isNewlyFull) = kept.withLock { kept -> (Bool, Bool) in
            // Its replacement has been requested before.
            guard kept.threads[thread] == nil else { return (false, false) }
            let wasFull = kept.isFull
            kept.isFull = kept.threads.count >= maximumBlockedThreads
            if kept.isFull { return (false, !wasFull) }
            kept.threads[thread] = MonotonicClock.now
            tellRoom(kept)
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

    /// The replacement of a thread has the loop.
    func tookOver() { events.tookOver() }

    func cannotReplace(_ thread: UInt, because why: String) {
        returned(thread)
        events.waits(nil, why)
    }

    /// The thread has returned from foreign code, before or after it was replaced.
    func returned(_ thread: UInt) {
        kept.withLock { kept in
            kept.threads[thread] = nil
            tellRoom(kept)
        }
    }

    /// When it was decided to replace this thread; nil for all others.
    func lostSince(_ thread: UInt) -> Instant? { kept.withLock { $0.threads[thread] } }

    private func tellRoom(_ kept: Kept) {
        room.store(kept.threads.count < maximumBlockedThreads, ordering: .relaxed)
    }
}
