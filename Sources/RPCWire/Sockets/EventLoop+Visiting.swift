// What a caller does that runs the loop for a moment, and what the loop's thread does meanwhile. Only one of them is the
// one that `ownership` names, and what it has done is there for the next.

import Synchronization

extension EventLoop {
    package func expect(_ change: Int) { expectations.add(change, ordering: .sequentiallyConsistent) }

    package func attend() {
        if let visits, ownership.isVacant { visits.callBack() }
    }

    package func visit(until isOver: () -> Bool) {
        guard let visits else { return }
        guard visits.isWorthwhile() else { return attend() }
        guard !visits.isThreadBack, ownership.enter(SystemThread.current) else { return visits.missed() }
        visits.came()
        let start = MonotonicClock.now
        let (hasFound, now) = wait(asVisitorOf: visits, from: start, isOver)
        visits.left(hasPaid: hasFound && start.nanoseconds(to: now) <= Visits.worthIt)
        let needsThread = !hasFound || hasOtherWork(at: now)
        ownership.stepAside()
        // Now: who has begun to wait and found somebody here went away.
        if needsThread || isExpected || visits.isThreadBack { visits.letIn() }
    }

    /// What arrives is delivered, and what that queues for a peer is sent. Everything else is for the loop's thread.
    /// Answers whether it is over, and the time at the last look.
    private func wait(
        asVisitorOf visits: Visits, from start: Instant, _ isOver: () -> Bool
    ) -> (hasFound: Bool, now: Instant) {
        // It may have come before the loop was vacant.
        if isOver() { return (true, start) }
        let isLookingOut = spins && lookout.isWorthwhile
        var now = start
        repeat {
            let looks = isLookingOut && now < start.advanced(byNanoseconds: Lookout.time)
            let hasCome = looks ? look(at: now) : sleep(from: now)
            flushStreams()
            if hasCome, isOver() {
                noteForLookout(isLookingOut, looks, start)
                return (true, looks ? now : MonotonicClock.now)
            }
            now = MonotonicClock.now
        } while !visits.isThreadBack && !hasOtherWork(at: now)
        noteForLookout(isLookingOut, false, start)
        return (isOver(), now)
    }

    /// Until something comes, a timer is due, or the loop's thread asks for its place.
    private func sleep(from now: Instant) -> Bool {
        let count = selector.wait(nanoseconds: timers.nextDeadline.map { now.nanoseconds(to: $0) })
        deliverReady(count)
        return count > 0
    }

    private func noteForLookout(_ isLookingOut: Bool, _ hasFound: Bool, _ start: Instant) {
        guard spins else { return }
        if isLookingOut {
            lookout.lookedOut(hasFound: hasFound)
        } else {
            lookout.slept(start.duration(to: MonotonicClock.now))
        }
    }

    /// Whether anybody waits for an answer.
    private var isExpected: Bool { expectations.load(ordering: .sequentiallyConsistent) > 0 }

    /// Whether there is something to do besides waiting for the one answer.
    private func hasOtherWork(at now: Instant) -> Bool {
        if !queue.isEmpty || !unflushed.isEmpty || hasMail.load(ordering: .acquiring) { return true }
        guard let next = timers.nextDeadline else { return false }
        return next <= now
    }

    /// Leaves the loop to callers for as long as they come, and then takes it back. Only when nobody else waits for an answer.
    func stepAside(for visits: Visits) {
        guard !isExpected, queue.isEmpty, unflushed.isEmpty else { return }
        let isFree = inbox.withLock { inbox in
            guard inbox.items.isEmpty else { return false }
            inbox.isAside = true
            // However late a timer is, the thread has to be there when it is due.
            inbox.sleepsUntil = .distantFuture
            return true
        }
        guard isFree else { return }
        ownership.stepAside()
        // Whoever begins to wait from now on sees that the loop is vacant. Who has begun before is served by the visitor,
        // if one has come already.
        if !isExpected || !ownership.enter(SystemThread.current) {
            visits.standAside()
            while !ownership.enter(SystemThread.current) {
                selector.wake()
                visits.waitForPlace()
            }
        }
        visits.isBack()
        inbox.withLock { inbox in
            inbox.isAside = false
            inbox.sleepsUntil = nil
        }
        timeOfThisItem = nil
    }
}
