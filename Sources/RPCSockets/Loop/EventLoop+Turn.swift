// Runs the turns of the loop's thread. A turn waits for events and delivers them, fires timers, and runs the queue. At its end
// each channel sends in one write what is still queued.

package import RPCWire
import Synchronization

extension EventLoop {
    /// How many items of the queue one turn runs before it looks at the sockets again, and for how long.
    private static let itemsPerTurn = 1_000
    private static let nanosecondsPerTurn: Int64 = 1_000_000
    /// How long a loop sleeps at most before a timer, in nanoseconds. The system's waits stand still while the machine sleeps,
    /// and the clock runs on. So a timer is at most this late after the machine is awake.
    private static let longestSleep: Int64 = 10_000_000_000
    /// Every so many polls a loop that spins checks all descriptors.
    private static let pollsPerPollOfAll = 8

    /// Runs the loop on this thread. Called on a new thread, when the loop has none.
    func run() {
        ownership.begin(SystemThread.current)
        runTurns()
    }

    /// Runs turns until nothing is left to do, or until this thread has lost the loop.
    func runTurns() {
        if state.hosting.hasThread { state.hosting.lostThread(at: MonotonicClock.now) }
        state.spin.isPossible = SystemThread.maySpin
        repeat {
            guard turn() else { return threadReturned() }
        } while !isDone()
    }

    /// Runs one turn. False if the thread has lost the loop; then it must not touch anything of the loop any more.
    private func turn() -> Bool {
        receive()
        fireTimers()
        guard runQueue() else { return false }
        endTurn()
        return true
    }

    package func atEndOfTurn(_ work: any TurnEndWork, _ hint: FlushHint) {
        // By pattern: `==` on another module's enum goes through a table.
        if case .last = hint, state.queue.isEmpty, state.turnEndWork.isEmpty, !mailbox.hasMail {
            return work.turnEnds()
        }
        state.turnEndWork.append(work)
    }

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
            // Reading the clock costs time, so it is read only for each eighth item. A time that the item has read itself
            // counts too. For the other items the system's last tick is enough to see one that takes long.
            if known ?? (count % 8 == 0 ? MonotonicClock.now : MonotonicClock.atLastTick) > end { break }
        }
        state.hosting.endStay()
        return true
    }

    func endTurn() {
        guard !state.turnEndWork.isEmpty else { return }
        // What is added from here on belongs to the next turn.
        var ending = exchange(&state.turnEndWork, with: exchange(&state.spareWorkList, with: []))
        for work in ending { work.turnEnds() }
        ending.removeAll(keepingCapacity: true)
        state.spareWorkList = ending
    }

    /// Whether the thread can end. Only after `shutdown`, when nothing is left to do.
    private func isDone() -> Bool {
        guard state.isEnding, state.queue.isEmpty, state.registrations.count == 0, state.turnEndWork.isEmpty else {
            return false
        }
        return mailbox.dismissThread { ownership.end() }
    }

    /// Ends everything on the loop: drops all timers, and tells all handlers.
    func end() {
        state.isEnding = true
        state.timers.removeAll()
        for handler in state.registrations.handlers { handler.loopWillEnd() }
    }
}

// MARK: waiting

extension EventLoop {
    /// Waits until there is something to do, and delivers the events. Spins before it sleeps if that is worthwhile.
    private func receive() {
        let spins = state.spin.isWorthwhile
        if spins, spin() { return }
        sleep(isNoted: !spins)
    }

    /// - Parameter isNoted: whether the spin policy is told how long the sleep was, if there was nothing to do at first.
    private func sleep(isNoted: Bool) {
        let start = MonotonicClock.now
        let time = timeToSleep(from: start)
        let count = poller.wait(nanoseconds: time)
        // Any known time is from before the sleep.
        state.time = nil
        if isNoted, time != 0 {
            let end = MonotonicClock.now
            state.spin.slept(nanoseconds: start.nanoseconds(to: end))
            state.time = end
        }
        mailbox.wakeUp(into: &state.queue)
        deliverReady(count)
    }

    /// Checks repeatedly without sleeping, so that a thread that posts need not wake the loop. False if nothing was found.
    private func spin() -> Bool {
        var now = MonotonicClock.now
        // An event that is ready at once would have ended a sleep at once too, so it does not tell whether spinning pays.
        if pollOnce(at: now) { return true }
        let start = now
        var end = start.advanced(byNanoseconds: state.spin.time)
        if let next = state.timers.nextDeadline { end = min(end, next) }
        var hasFound = false
        var count = 0
        repeat {
            now = MonotonicClock.now
            count &+= 1
            hasFound = pollOnce(at: now, all: count % Self.pollsPerPollOfAll == 0)
        } while !hasFound && now < end
        state.spin.spun(for: start.nanoseconds(to: now), hasFound: hasFound)
        return hasFound
    }

    /// Checks once without waiting, and delivers what has come. Returns whether there is something to do.
    /// - Parameter all: whether to check all descriptors, and not only the one that was read last and alone. A read that may
    ///   find nothing is one system call. An event and its read are two, which cost a tenth of a call that is alone.
    private func pollOnce(at now: Instant, all: Bool = true) -> Bool {
        state.time = now
        defer { state.time = nil }
        if !all, let handler = state.lastRead {
            if handler.readOnce() { return true }
        } else {
            let count = poller.wait(nanoseconds: 0)
            deliverReady(count)
            if count > 0 { return true }
        }
        return mailbox.hasMail || !state.queue.isEmpty || !state.turnEndWork.isEmpty
    }

    /// How many nanoseconds the loop may sleep; nil if it may sleep until it is woken.
    private func timeToSleep(from now: Instant) -> Int64? {
        guard state.queue.isEmpty, state.turnEndWork.isEmpty, !mailbox.hasMail else { return 0 }
        state.timers.dropCancelledFirst()
        guard let next = state.timers.nextDeadline, next < .distantFuture else {
            return mailbox.fallAsleep(until: .distantFuture) ? nil : 0
        }
        let until = min(next, now.advanced(byNanoseconds: Self.longestSleep))
        return mailbox.fallAsleep(until: until) ? now.nanoseconds(to: until) : 0
    }

    /// Delivers the events of the last wait. For the first of them the time may be known already.
    private func deliverReady(_ count: Int) {
        defer { if count > 1 { state.lastRead = nil } }
        for index in 0..<count {
            let (tag, readiness) = poller.event(index)
            state.registrations[tag]?.ready(readiness)
            state.time = nil
        }
        state.time = nil
    }
}
