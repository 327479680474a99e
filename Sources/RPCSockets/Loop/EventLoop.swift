// A thread that waits on sockets, timers and work, and runs whatever comes: the `Loop` that real connections live on.
// This file is what everybody may call from anywhere; `EventLoop+Turn.swift` is what the thread does.

package import RPCWire
import Synchronization

/// `@unchecked Sendable`: `inbox` is a lock; everything under "The thread's own" is touched only by the thread that
/// `ownership` names. When that thread ends and a later one begins, `inbox` stands between; when another takes the loop
/// over, `ownership` does.
package final class EventLoop: Loop, @unchecked Sendable {
    /// How the loop asks the system what is ready.
    package enum Backend: Sendable, CaseIterable {
        #if os(Linux)
            case epoll
        #endif
        case poll

        package static var best: Backend { allCases[0] }

        func makeSelector() throws(SystemError) -> any Selector {
            switch self {
            #if os(Linux)
                case .epoll: return try Epoll()
            #endif
            case .poll: return try Poll()
            }
        }
    }

    /// The loop of everybody who does not bring one: clients, above all. Started by its first work, never ended.
    package static let shared: EventLoop = {
        do throws(SystemError) {
            return try EventLoop(name: sharedName, watch: watchOfAll)
        } catch {
            // There are no descriptors now; there may be some when a client dials.
            return EventLoop(name: sharedName, selector: LateSelector(), watch: watchOfAll)
        }
    }()
    private static let sharedName = "rpc-loop"

    /// How many threads may be kept by their tasks before this loop waits as well.
    private static let maximumBlockedThreads = 64

    /// Who looks after it; nil when there was no descriptor or no thread for it.
    private static let watchOfAll: LoopWatch? = (try? WatchThread.running()).map {
        LoopWatch(maximumBlockedThreads: maximumBlockedThreads, thread: $0)
    }

    package let name: String
    let inbox = Lock(Inbox())
    /// Whether `inbox` holds anything, so that the loop looks there only if it does.
    let hasMail = Atomic(false)
    /// Which thread runs the loop.
    let ownership = LoopOwnership()
    /// Who has another thread go on when the loop's own is kept by a job; nil for a loop that waits for it.
    let watch: LoopWatch?
    let attention = Atomic(Attention.asleep)
    /// How many threads have lost the loop and are still kept.
    let absentThreads = Atomic(0)
    /// What the system calls the thread that has the loop.
    let threadNumber = Atomic<Int32>(0)
    /// How many looks in a row have seen nothing. The watch's own.
    @exclusivity(unchecked) var quietLooks = 0
    /// For how long the thread had computed when it was first seen to have lent the loop. The watch's own too.
    @exclusivity(unchecked) var timeWhenSeenLent: Int64?
    let selector: any Selector
    let cancelledTimers: CancelledCount

    // The thread's own. Unchecked, because a check of each access costs more than what most of the accesses do.
    @exclusivity(unchecked) var queue = RunQueue()
    @exclusivity(unchecked) var timers = TimerHeap()
    @exclusivity(unchecked) var registrations = Registrations()
    var isEnding = false
    @exclusivity(unchecked) var looksOut = false
    @exclusivity(unchecked) var lookout = Lookout()
    @exclusivity(unchecked) var hospitality: Hospitality
    /// A guest has the thread.
    @exclusivity(unchecked) var hasGuest = false
    let readBuffer = ReadBuffer()
    /// Streams that have queued output in this turn, and the list that becomes this one next time.
    @exclusivity(unchecked) var unflushed: ContiguousArray<SocketStream> = []
    @exclusivity(unchecked) var flushing: ContiguousArray<SocketStream> = []
    /// The time as read by the piece of work that now runs, if it has asked, or right before it.
    @exclusivity(unchecked) var timeOfThisItem: Instant?

    /// What came from other threads and waits for the loop.
    struct Inbox {
        var items: ContiguousArray<LoopItem> = []
        /// While the loop is asleep or about to be: until when at most.
        var sleepsUntil: Instant?
        var hasThread = false
        var isShutDown = false
    }

    /// The thread is started when there is something to do.
    /// - Parameters:
    ///   - watch: who has another thread go on when a job keeps this one. Jobs then run with the loop lent, and callers that
    ///     have been answered may go on here.
    ///   - hospitality: which of them may.
    package convenience init(
        name: String, backend: Backend = .best, watch: LoopWatch? = nil,
        hospitality: Hospitality = Hospitality()
    ) throws(SystemError) {
        self.init(
            name: name, selector: try backend.makeSelector(), watch: watch, hospitality: hospitality)
    }

    private init(
        name: String, selector: any Selector, watch: LoopWatch?, hospitality: Hospitality = Hospitality()
    ) {
        self.name = name
        self.selector = selector
        self.watch = watch
        self.hospitality = hospitality
        cancelledTimers = timers.cancelled
    }

    package var isCurrent: Bool { ownership.isHeld(by: SystemThread.current) }

    /// On the loop, the time at which the current piece of work first asked: work that blocks may not make the
    /// deadlines of the next piece come early.
    package var now: Instant {
        guard isCurrent else { return MonotonicClock.now }
        if let timeOfThisItem { return timeOfThisItem }
        let now = MonotonicClock.now
        timeOfThisItem = now
        return now
    }

    package func lookAtClock() -> Instant {
        let now = MonotonicClock.now
        if isCurrent { timeOfThisItem = now }
        return now
    }

    package var recently: Instant {
        guard isCurrent, let timeOfThisItem else { return MonotonicClock.atLastTick }
        return timeOfThisItem
    }

    /// Whether nothing is left to do in this turn behind what now runs, and no stream waits for its end.
    var isAtEndOfTurn: Bool { queue.isEmpty && unflushed.isEmpty && !hasMail.load(ordering: .relaxed) }

    package func submit(_ work: @escaping @Sendable () -> Void) { add(.work(work)) }

    package func enqueue(_ job: consuming ExecutorJob) { add(.job(UnownedJob(job))) }

    @discardableResult
    package func schedule(at instant: Instant, _ work: @escaping @Sendable () -> Void) -> any LoopTimer {
        let timer = ScheduledTimer(instant, cancelledTimers, work)
        if isCurrent { timers.insert(timer) } else { post(.timer(timer), due: instant) }
        return timer
    }

    /// Ends every stream, listener and timer of the loop; the thread ends when all work is done. Work and jobs that
    /// come later are still run, by a thread that lives as long as there are any. Returns at once.
    package func shutdown() {
        let isFirst = inbox.withLock { inbox in
            defer { inbox.isShutDown = true }
            return !inbox.isShutDown
        }
        guard isFirst else { return }
        attention.store(.ended, ordering: .relaxed)
        submit { [self] in end() }
    }

    private func add(_ item: LoopItem) {
        guard isCurrent else { return post(item, due: nil) }
        // What another thread has posted before came first, even if it has not been fetched yet.
        fetchMail()
        queue.append(item)
    }

    /// - Parameter due: when a timer is to fire; work is due at once.
    private func post(_ item: LoopItem, due: Instant?) {
        enum Next { case nothing, wake, start }
        let next: Next = inbox.withLock { inbox in
            inbox.items.append(item)
            hasMail.store(true, ordering: .releasing)
            if !inbox.hasThread {
                inbox.hasThread = true
                return .start
            }
            guard let sleepsUntil = inbox.sleepsUntil, due.map({ $0 < sleepsUntil }) ?? true else { return .nothing }
            // One wake-up is enough.
            inbox.sleepsUntil = nil
            return .wake
        }
        switch next {
        case .nothing: break
        case .wake: selector.wake()
        case .start: startThread()
        }
    }

    private func startThread() {
        do throws(SystemError) {
            try SystemThread.start(name: name) { [self] in run() }
        } catch {
            // Whoever posted the work waits for it, and there will never be anybody to do it.
            fatalError("the event loop \(name) gets no thread: \(error)")
        }
    }
}
