// A loop that runs when told to, on the thread of the test, with a clock that is moved by hand. Tasks that prefer it
// as their executor run on that thread as well, so that whole conversations are one deterministic sequence.

package import RPCSockets
package import RPCWire
import Synchronization

package final class ManualLoop: Loop, Handoff {
    private struct State {
        var now = Instant(nanoseconds: 0)
        /// What has been taken is nil; all before `first` has been.
        var queue: [Item?] = []
        var first = 0
        var timers: [Timer] = []
        var timersSet = 0
        var steps = 0
        var afterStep: (@Sendable () -> Void)?
        var isLost: (@Sendable () -> Bool)?

        mutating func takeFirst() -> Item? {
            guard first < queue.count else { return nil }
            defer {
                first += 1
                if first == queue.count {
                    queue.removeAll(keepingCapacity: true)
                    first = 0
                }
            }
            return queue[first].take()
        }

        /// Where the timer stands that is due first.
        var nextTimer: Int? {
            var next: Int?
            for index in timers.indices {
                // Those that were set earlier stand first, so of one moment the first is the one.
                if let next, timers[next].deadline <= timers[index].deadline { continue }
                next = index
            }
            return next
        }
    }

    private enum Item {
        case job(UnownedJob)
        case work(@Sendable () -> Void)
    }

    private struct Timer {
        let deadline: Instant
        let number: Int
        let work: @Sendable () -> Void
    }

    private let state = Lock(State())
    /// The thread that runs the loop now, or 0.
    private let runner = Atomic<UInt>(0)

    package init() {}

    package var now: Instant { state.withLock { $0.now } }
    package var isCurrent: Bool { runner.load(ordering: .relaxed) == SystemThread.current }

    package func submit(_ work: @escaping @Sendable () -> Void) { state.withLock { $0.queue.append(.work(work)) } }

    /// Behind all that is to be done already.
    package func atEndOfTurn(_ work: any TurnEndWork, _: FlushHint) { submit { work.turnEnds() } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.queue.append(.job(job)) }
    }

    @discardableResult
    package func schedule(at instant: Instant, _ work: @escaping @Sendable () -> Void) -> any LoopTimer {
        let number = state.withLock { state in
            state.timersSet += 1
            state.timers.append(Timer(deadline: instant, number: state.timersSet, work: work))
            return state.timersSet
        }
        return Handle(loop: self, number: number)
    }

    private final class Handle: LoopTimer {
        private let loop: ManualLoop
        private let number: Int

        init(loop: ManualLoop, number: Int) {
            self.loop = loop
            self.number = number
        }

        func cancel() {
            // What the work holds on to is let go outside the lock.
            _ = loop.state.withLock { state in
                state.timers.firstIndex { $0.number == number }.map { state.timers.remove(at: $0) }
            }
        }
    }

    /// When the next timer is due.
    package var nextDeadline: Instant? { state.withLock { state in state.nextTimer.map { state.timers[$0].deadline } } }

    /// How many timers are set. A timer that is cancelled is gone at once.
    package var timersLeft: Int { state.withLock { $0.timers.count } }

    /// How many things have been run so far.
    package var steps: Int { state.withLock { $0.steps } }

    /// Has this done after everything that is run: what always holds is looked at then.
    package func afterEachStep(_ look: @escaping @Sendable () -> Void) { state.withLock { $0.afterStep = look } }

    /// Has this decide, whenever a job takes the loop back, whether it finds it gone. It is never really anywhere else, so
    /// that the job may come again and ask once more.
    package func whenTakenBack(isLost: @escaping @Sendable () -> Bool) { state.withLock { $0.isLost = isLost } }

    package func lend() {}
    package var lostSince: Instant? { nil }
    package func enter() -> LoopVisit { isCurrent ? .atHome : .elsewhere }
    package func leave(_: LoopVisit) {}
    package func answer(onlyOf _: ObjectIdentifier?, _ resume: () -> Void) { resume() }

    package func takeBack() -> Bool {
        guard let isLost = state.withLock({ $0.isLost }) else { return true }
        return !isLost()
    }

    /// Runs one item of the queue, or one timer that is due. Answers whether there was one.
    @discardableResult
    package func step() -> Bool {
        let (item, look): (Item?, (@Sendable () -> Void)?) = state.withLock { state in
            state.steps += 1
            if let item = state.takeFirst() { return (item, state.afterStep) }
            guard let next = state.nextTimer, state.timers[next].deadline <= state.now else {
                state.steps -= 1
                return (nil, nil)
            }
            return (.work(state.timers.remove(at: next).work), state.afterStep)
        }
        guard let item else { return false }
        defer { look?() }
        let previous = runner.exchange(SystemThread.current, ordering: .relaxed)
        defer { runner.store(previous, ordering: .relaxed) }
        switch item {
        case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
        case .work(let work): work()
        }
        return true
    }

    /// Runs the body at once, on the loop as far as anybody can tell.
    @discardableResult
    package func pretend<Result>(_ body: () throws -> Result) rethrows -> Result {
        let previous = runner.exchange(SystemThread.current, ordering: .relaxed)
        defer { runner.store(previous, ordering: .relaxed) }
        return try body()
    }

    /// Runs until nothing is left to do at this moment of the clock.
    package func run() {
        while step() {}
    }

    /// Moves the clock, stopping at every timer on the way and running all that comes of it.
    package func advance(by duration: Duration) {
        run()
        let end = now.advanced(by: duration)
        while let next = nextDeadline, next <= end {
            state.withLock { $0.now = max($0.now, next) }
            run()
        }
        state.withLock { $0.now = end }
        run()
    }

    /// Moves the clock and runs nothing: for what takes time while it has the loop.
    package func pass(_ duration: Duration) { state.withLock { $0.now = $0.now.advanced(by: duration) } }

    /// Runs an asynchronous body to its end and answers its result. Whenever nothing else is left to do, the clock
    /// jumps to the next timer.
    package func complete<Success: Sendable>(
        _ body: @escaping @Sendable () async throws -> Success
    ) throws -> Success {
        let outcome = Outcome<Success>()
        Task(executorPreference: self) {
            do { outcome.set(.success(try await body())) } catch { outcome.set(.failure(error)) }
        }
        while true {
            run()
            if let result = outcome.result { return try result.get() }
            guard let next = nextDeadline else { throw ManualLoopIsStuck() }
            state.withLock { $0.now = max($0.now, next) }
        }
    }

    private final class Outcome<Success: Sendable>: Sendable {
        private let value = Lock<Result<Success, any Error>?>(nil)
        var result: Result<Success, any Error>? { value.withLock { $0 } }
        func set(_ result: Result<Success, any Error>) { value.withLock { $0 = result } }
    }
}

/// The body waits for something that neither the queue nor a timer of the loop will bring.
package struct ManualLoopIsStuck: Error {}
