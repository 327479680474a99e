// The work of a loop, and the mailbox to which other threads post it.

import RPCWire
import Synchronization

/// An item of a loop's queue. Task jobs and submitted work share the queue. A timer that another thread has set reaches the
/// loop in it.
enum LoopItem {
    case job(UnownedJob)
    /// A job of the ordinary pool that this thread runs.
    case hosted(UnownedJob)
    case work(@Sendable () -> Void)
    case timer(ScheduledTimer)

    var isHosted: Bool { if case .hosted = self { true } else { false } }
}

/// Items that other threads have posted and the loop has not fetched. Tells a posting thread whether it must start or wake the
/// loop's thread.
struct Mailbox: ~Copyable {
    /// What a thread must do after it has posted.
    enum Next { case nothing, wake, start }

    private struct State {
        var items: ContiguousArray<LoopItem> = []
        /// When the loop wakes by itself. Set while it sleeps or is about to; nil once a post has woken it.
        var sleepsUntil: Instant?
        var hasThread = false
        var isShutDown = false
    }

    private let state = Lock(State())
    private let isFilled = Atomic(false)

    /// Whether anything has been posted. Takes no lock, so it is asked before each look into the mailbox.
    var hasMail: Bool { isFilled.load(ordering: .acquiring) }

    /// - Parameter due: when a timer must fire; nil for work, which is due at once.
    func post(_ item: LoopItem, due: Instant?) -> Next {
        state.withLock { state in
            state.items.append(item)
            isFilled.store(true, ordering: .releasing)
            if !state.hasThread {
                state.hasThread = true
                return .start
            }
            guard let sleepsUntil = state.sleepsUntil, due.map({ $0 < sleepsUntil }) ?? true else { return .nothing }
            // One wake-up is enough.
            state.sleepsUntil = nil
            return .wake
        }
    }

    func fetch(into queue: inout Queue<LoopItem>) {
        if hasMail { take(into: &queue, isAwake: false) }
    }

    /// Fetches after a sleep: from here on posts need not wake the loop.
    func wakeUp(into queue: inout Queue<LoopItem>) { take(into: &queue, isAwake: true) }

    private func take(into queue: inout Queue<LoopItem>, isAwake: Bool) {
        state.withLock { state in
            if isAwake { state.sleepsUntil = nil }
            guard !state.items.isEmpty else { return }
            for item in state.items { queue.append(item) }
            state.items.removeAll(keepingCapacity: true)
            isFilled.store(false, ordering: .relaxed)
        }
    }

    /// Announces that the loop sleeps until this time. False if something has been posted. The lock makes this safe: either the
    /// loop sees the post here, or the posting thread sees that it must wake the loop.
    func fallAsleep(until: Instant) -> Bool {
        state.withLock { state in
            guard state.items.isEmpty else { return false }
            state.sleepsUntil = until
            return true
        }
    }

    /// Lets the thread end. False if something has been posted.
    /// - Parameter end: is called before another thread can be started.
    func dismissThread(_ end: () -> Void) -> Bool {
        state.withLock { state in
            guard state.items.isEmpty else { return false }
            (state.hasThread, state.sleepsUntil) = (false, nil)
            end()
            return true
        }
    }

    /// Returns whether this is the first call.
    func shutDown() -> Bool { state.withLock { !exchange(&$0.isShutDown, with: true) } }
}
