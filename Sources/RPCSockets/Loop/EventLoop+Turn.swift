// What the loop's thread does, turn by turn: wait for what arrives and deliver it (`EventLoop+Waiting.swift`), fire timers,
// run the queue, and send in one write per stream what all of that has queued and not sent yet.

import RPCWire
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
        looksOut = SystemThread.processors > 1
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
            // Read seldom, but who has read it anyway is believed, and a single item that takes long is seen at the next tick.
            if known ?? (count % 8 == 0 ? MonotonicClock.now : MonotonicClock.atLastTick) > end { break }
        }
        return true
    }

    /// Nobody knows what a job does. Answers whether the loop is still this thread's.
    private func run(_ job: UnownedJob) -> Bool {
        lend(forLong: false)
        job.runSynchronously(on: asUnownedTaskExecutor())
        return takeBack()
    }

    func flushStreams() {
        guard !unflushed.isEmpty else { return }
        swap(&unflushed, &flushing)
        for stream in flushing { stream.flushAtEndOfTurn() }
        // One by one: there are few, and to remove a range takes longer.
        while !flushing.isEmpty { flushing.removeLast() }
    }

    /// Takes over what other threads have posted.
    func fetchMail(wakingUp: Bool = false) {
        guard wakingUp || hasMail.load(ordering: .acquiring) else { return }
        inbox.withLock { inbox in
            if wakingUp { inbox.sleepsUntil = nil }
            guard !inbox.items.isEmpty else { return }
            for item in inbox.items { queue.append(item) }
            inbox.items.removeAll(keepingCapacity: true)
            hasMail.store(false, ordering: .relaxed)
        }
    }

    /// Whether the thread can go: only after `shutdown`, when nothing is left to do.
    private func isDone() -> Bool {
        guard isEnding, queue.isEmpty, registrations.count == 0, unflushed.isEmpty else {
            return false
        }
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
