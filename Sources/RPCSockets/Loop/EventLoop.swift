// Runs a thread that waits for sockets, timers and work: the `Loop` of real connections. This file has what any thread may
// call, and the registration of descriptors. `EventLoop+Turn.swift` has what the thread does.

package import RPCWire
import Synchronization

/// `@unchecked Sendable`: only `poller` needs it. Any thread may wake it; everything else of it is called on the loop.
package final class EventLoop: Loop, @unchecked Sendable {
    /// The state that only the loop's thread touches.
    struct State: ~Copyable {
        var queue = Queue<LoopItem>()
        var timers = TimerHeap()
        var registrations = Registrations()
        var spin = SpinPolicy()
        var hosting: Hosting
        /// What is to be called at the end of this turn; and an empty list, which has the memory for that of the next turn.
        var turnEndWork: ContiguousArray<any TurnEndWork> = []
        var spareWorkList: ContiguousArray<any TurnEndWork> = []
        let readBuffer = ReadBuffer()
        /// The handler that has read last, if no other had an event at the same time and if it is registered still.
        var lastRead: (any Selectable)?
        /// The time that the present piece of work has read; nil if it has not read the time.
        var time: Instant?
        var isEnding = false
    }

    /// The loop that all clients of the process share. Its first work starts it, and it never ends.
    package static let shared = EventLoop(lateName: "rpc-loop", monitor: HandoffMonitor(maximumBlockedThreads: 64))

    package let name: String
    let poller = SystemPoller()
    let mailbox = Mailbox()
    let ownership = LoopOwnership()
    /// Lets another thread take the loop when foreign code blocks its thread. Nil for a loop that is never lent.
    let monitor: HandoffMonitor?
    /// The monitor stops watching the loop after this many more looks without a loan.
    let looksLeft = Atomic<UInt8>(0)
    /// How many threads have lost the loop and have not returned.
    let threadsAway = Atomic(0)
    private let bound: LoopBound<State>

    /// Makes a loop. Its thread starts when there is something to do.
    /// - Parameters:
    ///   - monitor: lets another thread take over when a job blocks this one. With a monitor the loop is lent while jobs run,
    ///     and callers that have their answers may continue on its thread.
    ///   - hosting: decides which of those callers may.
    package convenience init(
        name: String, monitor: HandoffMonitor? = nil, hosting: PoolCallerPolicy = PoolCallerPolicy()
    ) throws(SystemError) {
        self.init(lateName: name, monitor: monitor, hosting: hosting)
        try poller.open()
    }

    /// Makes a loop even if the process has no free descriptors. Until there are some, watching a descriptor throws.
    init(lateName name: String, monitor: HandoffMonitor? = nil, hosting: PoolCallerPolicy = PoolCallerPolicy()) {
        self.name = name
        self.monitor = monitor
        bound = LoopBound(State(hosting: Hosting(hosting)), of: ownership)
    }

    var state: State {
        @inline(__always) _read { yield bound.value }
        @inline(__always) _modify { yield &bound.value }
    }

    package var isCurrent: Bool { ownership.isCurrent }

    /// On the loop: the time when the current piece of work first asked. A new piece of work reads the clock again. So its
    /// deadlines do not come early if earlier work took long.
    package var now: Instant {
        guard isCurrent else { return MonotonicClock.now }
        if let time = state.time { return time }
        let now = MonotonicClock.now
        state.time = now
        return now
    }

    package func submit(_ work: @escaping @Sendable () -> Void) { add(.work(work)) }

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    @discardableResult
    package func schedule(at instant: Instant, _ work: @escaping @Sendable () -> Void) -> any LoopTimer {
        let timer = ScheduledTimer(instant, work)
        if isCurrent { state.timers.insert(timer) } else { post(.timer(timer), due: instant) }
        return timer
    }

    /// Ends every channel, listener and timer of the loop, and returns at once. The thread ends when all work is done. Work and
    /// jobs that come later still run, on a thread that lives as long as there are any.
    package func shutdown() {
        if mailbox.shutDown() { submit { [self] in end() } }
    }

    private func add(_ item: LoopItem) {
        guard isCurrent else { return post(item, due: nil) }
        // Another thread's earlier posts come first, even if they have not been fetched yet.
        mailbox.fetch(into: &state.queue)
        state.queue.append(item)
    }

    private func post(_ item: LoopItem, due: Instant?) {
        switch mailbox.post(item, due: due) {
        case .nothing: break
        case .wake: poller.wake()
        case .start: startThread()
        }
    }

    private func startThread() {
        do throws(SystemError) {
            try SystemThread.start(name: name) { [self] in run() }
        } catch {
            // Otherwise the posted work would never run, and its callers would wait for ever.
            fatalError("the event loop \(name) gets no thread: \(error)")
        }
    }
}

// MARK: descriptors, on the loop

extension EventLoop {
    func register(
        _ handler: any Selectable, _ descriptor: Int32, _ interest: Readiness
    ) throws(SystemError) -> Registration {
        let registration = state.registrations.insert(handler, descriptor: descriptor)
        do throws(SystemError) {
            try poller.add(descriptor, interest, tag: registration.tag)
        } catch {
            state.registrations.remove(registration)
            throw error
        }
        if state.isEnding { submit { handler.loopWillEnd() } }
        return registration
    }

    func change(_ registration: Registration, _ interest: Readiness) throws(SystemError) {
        try poller.change(registration.descriptor, interest, tag: registration.tag)
    }

    /// Must be called before the descriptor is closed.
    func deregister(_ registration: Registration) {
        guard state.registrations[registration.tag] != nil else { return }
        poller.remove(registration.descriptor)
        state.registrations.remove(registration)
    }
}
