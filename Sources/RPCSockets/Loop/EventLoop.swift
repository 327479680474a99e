// Runs a thread that waits for sockets, timers and work: the `Loop` of real connections. This file has the members that any
// thread may call, and how descriptors are watched. `EventLoop+Turn.swift` has what the thread does.

package import RPCWire
import Synchronization

/// `@unchecked Sendable`: only `epoll` is not. Any thread may wake it; the rest of it is called on the loop.
package final class EventLoop: Loop, @unchecked Sendable {
    /// What belongs to the loop's thread.
    struct State {
        var queue = RunQueue()
        var timers = TimerHeap()
        var registrations = Registrations()
        var spin = SpinPolicy()
        var hosting: Hosting
        /// Channels that have queued output in this turn, and an empty list with room for those of the next turn.
        var unflushed: ContiguousArray<any TurnEndWork> = []
        var spareList: ContiguousArray<any TurnEndWork> = []
        let readBuffer = ReadBuffer()
        /// The time that the present piece of work has read; nil if it has read none.
        var time: Instant?
        var isEnding = false
    }

    /// The loop that all clients of the process share. Started by its first work, never ended.
    package static let shared = EventLoop(lateName: "rpc-loop", monitor: HandoffMonitor(maximumBlockedThreads: 64))

    package let name: String
    let epoll = Epoll()
    let mailbox = Mailbox()
    let ownership = LoopOwnership()
    /// Lets another thread take the loop when foreign code blocks its thread. Nil for a loop that waits for its thread.
    let monitor: HandoffMonitor?
    /// After how many more looks without a loan the monitor stops watching the loop.
    let looksLeft = Atomic<UInt8>(0)
    /// How many threads have lost the loop and have not returned.
    let threadsAway = Atomic(0)
    private let bound: LoopBound<State>

    /// The thread is started when there is something to do.
    /// - Parameters:
    ///   - monitor: has another thread go on when a job keeps this one. Jobs then run with the loop lent, and callers that have
    ///     been answered may go on here.
    ///   - hosting: which of those callers may.
    package convenience init(
        name: String, monitor: HandoffMonitor? = nil, hosting: PoolCallerPolicy = PoolCallerPolicy()
    ) throws(SystemError) {
        self.init(lateName: name, monitor: monitor, hosting: hosting)
        try epoll.open()
    }

    /// A loop that is made even where the process has no descriptors. Code that wants to watch one is told so, until there are
    /// some.
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

    /// On the loop, the time at which the current piece of work first asked: work that blocks may not make the
    /// deadlines of the next piece come early.
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

    /// Ends every channel, listener and timer of the loop. The thread ends when all work is done. Work and jobs that come later
    /// are still run, by a thread that lives as long as there are any. Returns at once.
    package func shutdown() {
        if mailbox.shutDown() { submit { [self] in end() } }
    }

    private func add(_ item: LoopItem) {
        guard isCurrent else { return post(item, due: nil) }
        // What another thread has posted before came first, even if it has not been fetched yet.
        mailbox.fetch(into: &state.queue)
        state.queue.append(item)
    }

    private func post(_ item: LoopItem, due: Instant?) {
        switch mailbox.post(item, due: due) {
        case .nothing: break
        case .wake: epoll.wake()
        case .start: startThread()
        }
    }

    private func startThread() {
        do throws(SystemError) {
            try SystemThread.start(name: name) { [self] in run() }
        } catch {
            // The work that was posted would never be done, and its callers would wait for ever.
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
            try epoll.add(descriptor, interest, tag: registration.tag)
        } catch {
            state.registrations.remove(registration)
            throw error
        }
        if state.isEnding { submit { handler.loopWillEnd() } }
        return registration
    }

    func change(_ registration: Registration, _ interest: Readiness) throws(SystemError) {
        try epoll.change(registration.descriptor, interest, tag: registration.tag)
    }

    /// Called before the descriptor is closed.
    func deregister(_ registration: Registration) {
        guard state.registrations[registration.tag] != nil else { return }
        epoll.remove(registration.descriptor)
        state.registrations.remove(registration)
    }
}
