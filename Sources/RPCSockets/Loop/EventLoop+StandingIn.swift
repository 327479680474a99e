// How a caller on a thread of its own has its answer without anybody being woken: while the loop's thread sleeps, the caller
// stands in for it, looks out for what comes over its own connection, and delivers it. The loop's thread would have had to
// wake the caller as well, and to be woken itself.
//
// Nothing waits for that: whatever else there is to do ends the sleep, and then the caller leaves at its next look. It runs
// nobody's code either: jobs and work that come of what it delivers are left to the loop's thread, which is woken for them.

import RPCWire
import Synchronization

extension EventLoop {
    /// Sleeps like the selector does. Meanwhile another thread may have the loop.
    func doze(nanoseconds: Int64?) -> Int {
        guard looksOut, nanoseconds != 0, selector.canBeChangedDuringWait else {
            return selector.wait(nanoseconds: nanoseconds)
        }
        ownership.fallAsleep()
        let count = selector.wait(nanoseconds: nanoseconds)
        let thread = SystemThread.current
        guard !ownership.wakeUp(thread) else { return count }
        isWanted.store(true, ordering: .relaxed)
        repeat { SystemThread.yield() } while !ownership.wakeUp(thread)
        isWanted.store(false, ordering: .relaxed)
        return count
    }

    /// On any thread but the loop's: looks again and again whether something has come over the stream, and delivers it, if the
    /// loop's thread sleeps and while that is worth it. Returns when `hasCome`, or when it is for the loop's thread to go on.
    func standIn(for stream: SocketStream, until hasCome: () -> Bool) {
        guard let substitution = ownership.standIn(SystemThread.current) else { return }
        if lookout.isWorthwhile {
            stream.mute()
            // Others may have begun to wait meanwhile.
            if !lookOut(over: stream, until: hasCome) || !isCallerElsewhere { stream.unmute() }
            flushStreams()
        }
        timeOfThisItem = nil
        let isAwaited = !queue.isEmpty || !idleWork.isEmpty || (timers.nextDeadline ?? .distantFuture) < wakesAt
        ownership.leave(substitution)
        if isAwaited { selector.wake() }
    }

    private func lookOut(over stream: SocketStream, until hasCome: () -> Bool) -> Bool {
        let start = MonotonicClock.now
        let end = start.advanced(byNanoseconds: lookout.time)
        var now = start
        var isOver = false
        while queue.isEmpty, !isWanted.load(ordering: .relaxed) {
            timeOfThisItem = now
            _ = stream.take()
            isOver = hasCome()
            now = MonotonicClock.now
            guard !isOver, now < end else {
                lookout.lookedOut(for: start.nanoseconds(to: now), hasFound: isOver)
                break
            }
        }
        return isOver
    }
}
