// What the loop's thread does, turn by turn: wait until something is ready, deliver what has arrived, fire timers, run
// the queue, and send in one write per stream what all of that has queued.

import Synchronization

extension EventLoop {
    /// How much of the queue one turn runs before it looks at the sockets again.
    private static let itemsPerTurn = 1_000
    private static let nanosecondsPerTurn: Int64 = 1_000_000

    /// The life of a thread that begins where there was none.
    func run() {
        ownership.begin(SystemThread.current)
        live()
    }

    /// The life of a thread from when it has the loop until there is nothing left to do, or until it has lost the loop.
    func live() {
        threadNumber.store(SystemThread.systemNumber, ordering: .relaxed)
        if hasGuest { wasKept() }
        // With one processor there is nobody who could bring about what the loop looks out for.
        spins = isToSpin && SystemThread.processors > 1
        repeat {
            guard turn() else { return threadIsBack() }
        } while !isDone()
    }

    /// False when the thread has lost the loop, and touches nothing of it any more.
    private func turn() -> Bool {
        receive()
        fireTimers()
        guard runQueue() else { return false }
        flushStreams()
        return true
    }

    /// Waits until there is something to do, and delivers what has come: without sleeping for as long as looking out is
    /// worth it.
    private func receive() {
        guard spins else { return sleep(isNoted: false) }
        guard lookout.isWorthwhile else { return sleep(isNoted: true) }
        let hasFound = lookOut()
        lookout.lookedOut(hasFound: hasFound)
        if !hasFound { sleep(isNoted: false) }
    }

    /// - Parameter isNoted: whether for how long tells something, if there was nothing to do at first.
    private func sleep(isNoted: Bool) {
        let time = timeToSleep()
        let start = isNoted && time != 0 ? MonotonicClock.now : nil
        let count = selector.wait(nanoseconds: time)
        if let start { lookout.slept(start.duration(to: MonotonicClock.now)) }
        fetchMail(wakingUp: true)
        deliverReady(count)
    }

    /// Looks again and again without sleeping. Whoever posts something meanwhile need not wake the loop.
    private func lookOut() -> Bool {
        var now = MonotonicClock.now
        var end = now.advanced(byNanoseconds: Lookout.time)
        if let next = timers.nextDeadline { end = min(end, next) }
        repeat {
            if look(at: now) || hasMail.load(ordering: .acquiring) || !queue.isEmpty || !unflushed.isEmpty {
                return true
            }
            now = MonotonicClock.now
        } while now < end
        return false
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
        let count = selector.wait(nanoseconds: 0)
        deliverReady(count)
        return count > 0
    }

    /// How many nanoseconds the loop may sleep; nil is until somebody wakes it.
    private func timeToSleep() -> Int64? {
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
        return until == .distantFuture ? nil : MonotonicClock.now.nanoseconds(to: until)
    }

    private func deliverReady(_ count: Int) {
        timeOfThisItem = nil
        for index in 0..<count {
            let event = selector.event(index)
            if spins { lookout.came(from: event.tag) }
            registrations[event.tag]?.ready(event.readiness)
            timeOfThisItem = nil
        }
    }

    private func fireTimers() {
        guard let next = timers.nextDeadline, next <= now else { return }
        let now = now
        let mark = timers.mark
        while let timer = timers.popDue(at: now, before: mark) {
            if let work = timer.takeWork() {
                work()
            } else {
                cancelledTimers.number.subtract(1, ordering: .relaxed)
            }
            timeOfThisItem = nil
        }
    }

    private func runQueue() -> Bool {
        guard !queue.isEmpty || hasMail.load(ordering: .acquiring) else { return true }
        // Nothing has been done since somebody may have asked.
        let end = now.advanced(byNanoseconds: EventLoop.nanosecondsPerTurn)
        var stay: Stay?
        defer { leave(&stay) }
        for count in 1...EventLoop.itemsPerTurn {
            fetchMail()
            guard let item = queue.popFirst() else { return true }
            if !item.isGuest { leave(&stay) }
            switch item {
            case .job(let job): guard run(job) else { return false }
            case .guest(let job):
                guard host(job, &stay) else { return false }
            case .work(let work): work()
            case .timer(let timer): timers.insert(timer)
            }
            let known = timeOfThisItem
            timeOfThisItem = nil
            // Read seldom, but who has read it anyway is believed.
            if known ?? end > end || count % 8 == 0 && MonotonicClock.now > end { break }
        }
        return true
    }

    /// Nobody knows what a job does. Answers whether the loop is still this thread's.
    private func run(_ job: UnownedJob) -> Bool {
        lend(forLong: false)
        job.runSynchronously(on: asUnownedTaskExecutor())
        return takeBack()
    }

    private func flushStreams() {
        guard !unflushed.isEmpty else { return }
        swap(&unflushed, &flushing)
        for stream in flushing { stream.flushAtEndOfTurn() }
        flushing.removeAll(keepingCapacity: true)
    }

    /// Takes over what other threads have posted.
    func fetchMail(wakingUp: Bool = false) {
        guard wakingUp || hasMail.load(ordering: .acquiring) else { return }
        inbox.withLock { inbox in
            if wakingUp { inbox.sleepsUntil = nil }
            for item in inbox.items { queue.append(item) }
            inbox.items.removeAll(keepingCapacity: true)
            hasMail.store(false, ordering: .relaxed)
        }
    }

    /// Whether the thread can go: only after `shutdown`, when nothing is left to do.
    private func isDone() -> Bool {
        guard isEnding, queue.isEmpty, registrations.count == 0, unflushed.isEmpty else { return false }
        return inbox.withLock { inbox in
            guard inbox.items.isEmpty else { return false }
            inbox.hasThread = false
            inbox.sleepsUntil = nil
            ownership.end()
            return true
        }
    }

    /// Ends everything that lives on the loop.
    func end() {
        isEnding = true
        timers.removeAll()
        for handler in registrations.handlers { handler.loopWillEnd() }
    }
}

// MARK: for those who wait on descriptors; called on the loop

extension EventLoop {
    func register(
        _ handler: any Selectable, _ descriptor: Int32, _ interest: Interest
    ) throws(SystemError) -> Registration {
        let registration = registrations.insert(handler, descriptor: descriptor)
        do throws(SystemError) {
            try selector.add(descriptor, interest, tag: registration.tag)
        } catch {
            registrations.remove(registration)
            throw error
        }
        if isEnding { submit { handler.loopWillEnd() } }
        return registration
    }

    func change(_ registration: Registration, _ interest: Interest) throws(SystemError) {
        try selector.change(registration.descriptor, interest, tag: registration.tag)
    }

    /// Before the descriptor is closed.
    func deregister(_ registration: Registration) {
        guard registrations[registration.tag] != nil else { return }
        selector.remove(registration.descriptor)
        registrations.remove(registration)
    }
}
