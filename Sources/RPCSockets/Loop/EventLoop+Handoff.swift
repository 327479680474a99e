// Keeps a loop running while its thread is blocked: lends the loop, and lets another thread take it over. Also runs tasks of
// the ordinary pool on the loop's thread.

package import RPCWire
import Synchronization

extension EventLoop: Handoff {
    /// After this many looks in a row without a loan, the monitor stops watching the loop.
    private static let quietLooks: UInt8 = 2
    /// The least number of looks that must see a loan before it is overdue. Each thread that is away adds one: if all are late
    /// because the machine is busy, more threads make them later.
    private static let looksPerLoan = 2

    package func lend() {
        guard monitor != nil else { return }
        ownership.lend()
        beWatched()
    }

    /// Called when a loan has begun, so that a later look sees it. The monitor cannot stop too early: it stops only at a look
    /// some milliseconds after the count was lowered.
    private func beWatched() {
        if looksLeft.load(ordering: .relaxed) < Self.quietLooks { askToBeWatched() }
    }

    @inline(never)
    private func askToBeWatched() {
        if looksLeft.exchange(Self.quietLooks, ordering: .relaxed) == 0 { monitor?.watch(self) }
    }

    package func takeBack() -> Bool {
        if monitor != nil, !ownership.takeBack(SystemThread.current) { return false }
        // The foreign code may have taken long, so the known time is too old.
        state.time = nil
        return true
    }

    package var lostSince: Instant? { monitor?.lostSince(SystemThread.current) }

    package func enter() -> LoopVisit {
        if isCurrent { return .atHome }
        guard let loan = ownership.enter(SystemThread.current) else { return .elsewhere }
        state.time = nil
        return .visiting(loan, isHosted: state.hosting.hasThread)
    }

    package func leave(_ visit: LoopVisit) {
        guard case .visiting(let loan, _) = visit else { return }
        ownership.leave(loan)
        beWatched()
    }

    // MARK: another thread takes over

    /// One look of the monitor, from another thread. Returns whether to look again.
    @discardableResult
    package func look() -> Bool {
        switch ownership.look(enough: Self.looksPerLoan + threadsAway.load(ordering: .relaxed)) {
        case .notLent:
            let left = looksLeft.load(ordering: .relaxed)
            guard left > 0 else { return false }
            let isCounted = looksLeft.compareExchange(expected: left, desired: left - 1, ordering: .relaxed).exchanged
            return !isCounted || left > 1
        case .lent: break
        case .overdue(let thread): replace(thread)
        }
        looksLeft.store(Self.quietLooks, ordering: .relaxed)
        return true
    }

    /// Whether the monitor will look again; for tests.
    var isWatched: Bool { looksLeft.load(ordering: .relaxed) > 0 }

    private func replace(_ thread: UInt) {
        guard let monitor, monitor.admits(thread) else { return }
        do throws(SystemError) {
            try SystemThread.start(name: name) { [self] in
                // The first thread may have returned in the meantime.
                guard ownership.take(from: thread, for: SystemThread.current) else { return monitor.returned(thread) }
                threadsAway.add(1, ordering: .relaxed)
                monitor.tookOver()
                runTurns()
            }
        } catch {
            monitor.cannotReplace(thread, because: "the event loop \(name) gets no other thread: \(error)")
        }
    }

    /// Called by a thread that finds that it has lost the loop.
    func threadReturned() {
        threadsAway.subtract(1, ordering: .relaxed)
        monitor?.returned(SystemThread.current)
    }

    // MARK: jobs of the pool

    package func answer(onlyOf peer: ObjectIdentifier?, _ resume: () -> Void) {
        guard state.hosting.policy.admits(onlyOf: peer, at: now), canHost else { return resume() }
        PoolHook.collectJobs(of: resume, into: self)
    }

    /// Whether another thread would take over if a hosted job blocked this one.
    private var canHost: Bool {
        monitor?.hasRoom == true && threadsAway.load(ordering: .relaxed) == 0 && !state.isEnding
    }

    /// Runs a job of the pool, or gives it back to the pool. Returns whether this thread still has the loop.
    func host(_ job: UnownedJob) -> Bool {
        let begin = state.hosting.beginOfStay ?? now
        guard canHost, state.hosting.beginJob(stayingSince: begin) else {
            globalConcurrentExecutor.enqueue(ExecutorJob(job))
            return true
        }
        lend()
        PoolHook.run(job)
        guard takeBack() else { return false }
        state.hosting.endJob()
        return true
    }
}
