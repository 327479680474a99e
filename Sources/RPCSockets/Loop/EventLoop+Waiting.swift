// How the loop's thread waits, and how what it waited for gets to those who asked for it.

package import RPCWire
import Synchronization

extension EventLoop {
    /// Waits until there is something to do, and delivers what has come: without sleeping for as long as looking out is
    /// worth it.
    func receive() {
        guard looksOut else { return sleep(isNoted: false) }
        guard lookout.isWorthwhile else { return sleep(isNoted: true) }
        if !lookOut() { sleep(isNoted: false) }
    }

    /// - Parameter isNoted: whether for how long tells something, if there was nothing to do at first.
    private func sleep(isNoted: Bool) {
        let start = MonotonicClock.now
        let time = timeToSleep(from: start)
        let count = selector.wait(nanoseconds: time)
        // Whatever was known is older than the sleep.
        timeOfThisItem = nil
        if isNoted, time != 0 {
            let end = MonotonicClock.now
            lookout.slept(nanoseconds: start.nanoseconds(to: end))
            timeOfThisItem = end
        }
        fetchMail(wakingUp: true)
        deliverReady(count)
    }

    /// Looks again and again without sleeping. Whoever posts something meanwhile need not wake the loop. False when it has come
    /// to nothing.
    private func lookOut() -> Bool {
        var now = MonotonicClock.now
        // What is there at once would have ended a sleep at once too: it says nothing of whether looking out pays.
        if finds(at: now) { return true }
        let start = now
        var end = start.advanced(byNanoseconds: lookout.time)
        if let next = timers.nextDeadline { end = min(end, next) }
        var hasFound = false
        repeat {
            now = MonotonicClock.now
            hasFound = finds(at: now)
        } while !hasFound && now < end
        lookout.lookedOut(for: start.nanoseconds(to: now), hasFound: hasFound)
        return hasFound
    }

    private func finds(at now: Instant) -> Bool {
        look(at: now) || hasMail.load(ordering: .acquiring) || !queue.isEmpty || !unflushed.isEmpty
    }

    /// One look at the sockets, or only at the one where it is most likely that something has come: taking what is there
    /// is then one step instead of two. Answers whether something was delivered.
    func look(at now: Instant) -> Bool {
        if let likely = lookout.likeliest(at: now), let handler = registrations[likely] {
            timeOfThisItem = now
            defer { timeOfThisItem = nil }
            return handler.take()
        }
        lookout.lookedEverywhere(at: now)
        timeOfThisItem = now
        let count = selector.wait(nanoseconds: 0)
        deliverReady(count)
        return count > 0
    }

    /// How many nanoseconds the loop may sleep; nil is until somebody wakes it.
    private func timeToSleep(from now: Instant) -> Int64? {
        guard queue.isEmpty, unflushed.isEmpty, !hasMail.load(ordering: .acquiring) else { return 0 }
        timers.dropCancelledFirst()
        let until = timers.nextDeadline ?? .distantFuture
        // Under the lock, so that whoever posts either is seen here or sees that a wake-up is due.
        let isFree = inbox.withLock { inbox in
            guard inbox.items.isEmpty else { return false }
            inbox.sleepsUntil = until
            return true
        }
        guard isFree else { return 0 }
        return until == .distantFuture ? nil : now.nanoseconds(to: until)
    }

    /// The time may be known for the first of them.
    private func deliverReady(_ count: Int) {
        defer { timeOfThisItem = nil }
        for index in 0..<count {
            let event = selector.event(index)
            if looksOut { lookout.came(from: event.tag) }
            registrations[event.tag]?.ready(event.readiness)
            timeOfThisItem = nil
        }
    }
}
