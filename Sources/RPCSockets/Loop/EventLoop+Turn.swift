// Runs the turns of the loop's thread: wait for events and deliver them, fire timers, run the queue. At the end of a turn each
// channel sends in one write what is still queued.

import RPCWire
import Synchronization

extension EventLoop {
    /// How much of the queue one turn runs before it looks at the sockets again.
    private static let itemsPerTurn = 1_000
    private static let nanosecondsPerTurn: Int64 = 1_000_000

    /// Runs a thread for a loop that has none.
    func run() {
        ownership.begin(SystemThread.current)
        live()
    }

    /// Runs turns until nothing is left to do, or until this thread has lost the loop.
    func live() {
        if state.hosting.hasThread { state.hosting.lostThread(at: MonotonicClock.now) }
        state.spin.isPossible = SystemThread.processors > 1
        repeat {
            guard turn() else { return threadReturned() }
        } while !isDone()
    }

    /// Runs one turn. False when the thread has lost the loop: then it may touch nothing of the loop any more.
    private func turn() -> Bool {
        receive()
        fireTimers()
        guard runQueue() else { return false }
        flushChannels()
        return true
    }

    /// Whether nothing is left to do in this turn behind the present piece of work, and no channel waits for the end of the turn.
    var isAtEndOfTurn: Bool { state.queue.isEmpty && state.unflushed.isEmpty && !mailbox.hasMail }

    private func fireTimers() {
        guard let next = state.timers.nextDeadline, next <= now else { return }
        let now = now
        let mark = state.timers.mark
        while let timer = state.timers.popDue(at: now, before: mark) {
            timer.takeWork()?()
            state.time = nil
        }
    }

    private func runQueue() -> Bool {
        guard !state.queue.isEmpty || mailbox.hasMail else { return true }
        let end = now.advanced(byNanoseconds: Self.nanosecondsPerTurn)
        for count in 1...Self.itemsPerTurn {
            mailbox.fetch(into: &state.queue)
            guard let item = state.queue.popFirst() else { break }
            if !item.isHosted { state.hosting.endStay() }
            switch item {
            case .job(let job):
                lend()
                job.runSynchronously(on: asUnownedTaskExecutor())
                guard takeBack() else { return false }
            case .hosted(let job):
                guard host(job) else { return false }
            case .work(let work): work()
            case .timer(let timer): state.timers.insert(timer)
            }
            let known = exchange(&state.time, with: nil)
            // The clock is read seldom. A time that the item has read anyway counts. An item that takes long is seen at the
            // next tick of the system.
            if known ?? (count % 8 == 0 ? MonotonicClock.now : MonotonicClock.atLastTick) > end { break }
        }
        state.hosting.endStay()
        return true
    }

    func flushChannels() {
        guard !state.unflushed.isEmpty else { return }
        // Channels that are added meanwhile are for the next turn.
        var channels = exchange(&state.unflushed, with: exchange(&state.spareList, with: []))
        for channel in channels { channel.turnEnds() }
        channels.removeAll(keepingCapacity: true)
        state.spareList = channels
    }

    /// Whether the thread can go: only after `shutdown`, when nothing is left to do.
    private func isDone() -> Bool {
        guard state.isEnding, state.queue.isEmpty, state.registrations.count == 0, state.unflushed.isEmpty else {
            return false
        }
        return mailbox.leave { ownership.end() }
    }

    /// Ends everything that lives on the loop.
    func end() {
        state.isEnding = true
        state.timers.removeAll()
        for handler in state.registrations.handlers { handler.loopWillEnd() }
    }
}

// MARK: waiting

extension EventLoop {
    /// Waits until there is something to do, and delivers what has come. Spins before it sleeps where that is worthwhile.
    private func receive() {
        let spins = state.spin.isWorthwhile
        if spins, spin() { return }
        sleep(isNoted: !spins)
    }

    /// - Parameter isNoted: whether the spin policy is told how long the sleep was, if there was nothing to do at first.
    private func sleep(isNoted: Bool) {
        let start = MonotonicClock.now
        let time = timeToSleep(from: start)
        let count = epoll.wait(nanoseconds: time)
        // Any time that was known is older than the sleep.
        state.time = nil
        if isNoted, time != 0 {
            let end = MonotonicClock.now
            state.spin.slept(nanoseconds: start.nanoseconds(to: end))
            state.time = end
        }
        mailbox.wakeUp(into: &state.queue)
        deliverReady(count)
    }

    /// Checks repeatedly without sleeping. A thread that posts meanwhile need not wake the loop. False when nothing was found.
    private func spin() -> Bool {
        var now = MonotonicClock.now
        // An event that is ready at once would have ended a sleep at once too. It does not tell whether spinning pays.
        if finds(at: now) { return true }
        let start = now
        var end = start.advanced(byNanoseconds: state.spin.time)
        if let next = state.timers.nextDeadline { end = min(end, next) }
        var hasFound = false
        repeat {
            now = MonotonicClock.now
            hasFound = finds(at: now)
        } while !hasFound && now < end
        state.spin.spun(for: start.nanoseconds(to: now), hasFound: hasFound)
        return hasFound
    }

    /// Checks once without waiting, and delivers the events. Returns whether there is something to do.
    private func finds(at now: Instant) -> Bool {
        state.time = now
        let count = epoll.wait(nanoseconds: 0)
        deliverReady(count)
        return count > 0 || mailbox.hasMail || !state.queue.isEmpty || !state.unflushed.isEmpty
    }

    /// How many nanoseconds the loop may sleep; nil is until it is woken.
    private func timeToSleep(from now: Instant) -> Int64? {
        guard state.queue.isEmpty, state.unflushed.isEmpty, !mailbox.hasMail else { return 0 }
        state.timers.dropCancelledFirst()
        let until = state.timers.nextDeadline ?? .distantFuture
        guard mailbox.fallAsleep(until: until) else { return 0 }
        return until == .distantFuture ? nil : now.nanoseconds(to: until)
    }

    /// Delivers the events of the last wait. The time may be known for the first of them.
    private func deliverReady(_ count: Int) {
        for index in 0..<count {
            let (tag, readiness) = epoll.event(index)
            state.registrations[tag]?.ready(readiness)
            state.time = nil
        }
        state.time = nil
    }
}
