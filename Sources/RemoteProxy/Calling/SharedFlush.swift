// How callers elsewhere than on the loop share one write: who makes the task that flushes for all, and when that does. Pure.

/// Somebody promises to flush; the others rely on it. A task keeps the promise behind the callers that are ready to run,
/// because a write for each would cost them far more than the wait.
struct SharedFlush {
    /// The last callers run while the task that flushes already does, on another thread: they are there in a moment, and a
    /// write of their own would cost many times as much. So often it looks whether they are.
    private static let mostLooks = 32
    /// When they were not, so many flushes do not wait.
    private static let flushesAtOnce = 16

    private var isPromised = false
    /// Of a caller that has relied on a promise since the loop last made one; nil when nobody has.
    private var priority: UInt8?
    /// How many were resumed ahead of the flush and have not called again.
    private var awaited = 0
    private var looks = 0
    /// How many flushes are still to be made without waiting for anybody.
    private var atOnce = 0

    /// Others are about to call, and one flush will serve all of them.
    var isForOthers: Bool { awaited > 0 }

    /// A caller has queued something. Answers whether it is to make the task, as the first.
    mutating func want(_ callersPriority: @autoclosure () -> UInt8) -> Bool {
        if priority == nil { priority = callersPriority() }
        if awaited > 0 { awaited -= 1 }
        defer { isPromised = true }
        return !isPromised
    }

    /// Several callers have their answers and are about to be resumed. If they call again, as those did who were resumed
    /// last time, then one write serves all of them when the promise is made before the first of them and kept behind the
    /// last. Answers the priority of the task that is then to be made.
    mutating func promiseAhead(of callers: Int) -> UInt8? {
        guard let promised = priority, !isPromised else { return nil }
        (priority, isPromised, awaited) = (nil, true, callers)
        return promised
    }

    /// Whether the flush begins; then what is queued from now on needs another. If not, the task is to ask again.
    mutating func begin() -> Bool {
        if awaited > 0, atOnce == 0, looks < Self.mostLooks {
            looks += 1
            return false
        }
        let wasInVain = awaited > 0 && atOnce == 0
        atOnce = wasInVain ? Self.flushesAtOnce : max(0, atOnce - 1)
        (isPromised, awaited, looks) = (false, 0, 0)
        return true
    }
}
