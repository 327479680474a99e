// Holds the work of a loop: its own queue, and the mailbox to which other threads post.

import RPCWire
import Synchronization

/// Something that has work to do at the end of the present turn of a loop.
protocol TurnEndWork: AnyObject, Sendable {
    /// Called once, on the loop, for each time that it was listed.
    func turnEnds()
}

/// Task jobs and submitted work share one queue; timers that other threads set travel to the loop in it.
enum LoopItem {
    case job(UnownedJob)
    /// A job of the ordinary pool that this thread runs.
    case hosted(UnownedJob)
    case work(@Sendable () -> Void)
    case timer(ScheduledTimer)

    var isHosted: Bool { if case .hosted = self { true } else { false } }
}

/// The items in the order in which they were added.
struct RunQueue {
    /// The least number of empty places at the front before they are removed.
    private static let mostFree = 1_024

    /// Items that have been taken are nil.
    private var items: ContiguousArray<LoopItem?> = []
    private var first = 0

    var isEmpty: Bool { first == items.count }

    mutating func append(_ item: consuming LoopItem) { items.append(item) }

    mutating func popFirst() -> LoopItem? {
        guard first < items.count else { return nil }
        let item = items[first].take()
        first += 1
        if first == items.count || first >= max(Self.mostFree, items.count / 2) { removeFree() }
        return item
    }

    private mutating func removeFree() {
        items.removeFirst(first)
        first = 0
    }
}

/// Items that other threads have posted and the loop has not fetched. Tells a posting thread whether to start or wake the
/// loop's thread.
struct Mailbox: ~Copyable {
    /// What a thread that has posted does next.
    enum Next { case nothing, wake, start }

    private struct State {
        var items: ContiguousArray<LoopItem> = []
        /// When the loop wakes by itself. Set while it sleeps or is about to; nil once a post wakes it.
        var sleepsUntil: Instant?
        var hasThread = false
        var isShutDown = false
    }

    private let state = Lock(State())
    private let isFilled = Atomic(false)

    /// Whether anything has been posted. Asked before each look into the mailbox, since it takes no lock.
    var hasMail: Bool { isFilled.load(ordering: .acquiring) }

    /// - Parameter due: when a timer is to fire; work is due at once.
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

    func fetch(into queue: inout RunQueue) {
        if hasMail { take(into: &queue, isAwake: false) }
    }

    /// Fetches after a sleep: further posts wake nothing.
    func wakeUp(into queue: inout RunQueue) { take(into: &queue, isAwake: true) }

    private func take(into queue: inout RunQueue, isAwake: Bool) {
        state.withLock { state in
            if isAwake { state.sleepsUntil = nil }
            guard !state.items.isEmpty else { return }
            for item in state.items { queue.append(item) }
            state.items.removeAll(keepingCapacity: true)
            isFilled.store(false, ordering: .relaxed)
        }
    }

    /// Announces that the loop sleeps until then. False when something has been posted. The lock makes this safe: either the
    /// loop sees the post here, or the posting thread sees that it has to wake the loop.
    func fallAsleep(until: Instant) -> Bool {
        state.withLock { state in
            guard state.items.isEmpty else { return false }
            state.sleepsUntil = until
            return true
        }
    }

    /// Lets the thread end, unless something has been posted.
    /// - Parameter end: done before another thread can be started.
    func leave(_ end: () -> Void) -> Bool {
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
