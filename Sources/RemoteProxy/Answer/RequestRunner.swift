// Runs requests on the loop, in place. A worker is a task on the loop that runs one request after another while their subjects
// do not suspend. So async functions cost as little as plain calls.
//
// When a subject suspends, the loop gets control back and has another worker run the rest. The first worker goes on when its
// subject does. While requests wait, a worker pauses each millisecond, so that the loop sends answers and sees what else has
// come. While a subject has a worker's thread, the loop is lent. If another thread has the loop by then, the worker follows it
// there.

import JSONCodec
package import RPCSockets
package import RPCWire

/// `@unchecked Sendable`: everything here is touched on the loop's thread only, which debug builds check where it is entered.
package final class RequestRunner: @unchecked Sendable {
    package let loop: any Loop
    /// Gives the loop another thread while a subject keeps this one. Nil where the loop never changes its thread.
    let handoff: (any Handoff)?
    /// The number of this loop among those of one server.
    package let number: Int
    @exclusivity(unchecked) private var inbox = RequestQueue()
    @exclusivity(unchecked) private var overload: Overload
    @exclusivity(unchecked) private var idle: [Worker] = []
    /// Whether a worker has been woken and has not looked yet, or the loop is about to check if another one is needed.
    @exclusivity(unchecked) private var isCheckPending = false
    /// How many workers pause, so that the loop can look at its sockets.
    @exclusivity(unchecked) private var pausing = 0
    /// Whether a worker has seen that a pause is due, and has not paused yet. Until then `isTimeToLook` is not asked.
    @exclusivity(unchecked) private var isPauseDue = false
    @exclusivity(unchecked) private var turn = WorkersTurn()
    @exclusivity(unchecked) private var isStopped = false
    /// How many idle workers are kept for the next burst; each is a task of about a kilobyte.
    private let maximumIdleWorkers = 64

    /// - Parameters:
    ///   - handoff: gives the loop another thread while a subject keeps this one.
    ///   - maximumWait: how long calls of several sessions may wait for their turn before that is an overload; zero for ever.
    package init(loop: any Loop, handoff: (any Handoff)? = nil, number: Int = 0, maximumWait: Duration = .zero) {
        self.loop = loop
        self.handoff = handoff
        self.number = number
        overload = Overload(maximumWait: maximumWait)
    }

    /// How many requests wait for a worker.
    var backlog: Int { inbox.count }
    /// How many links have requests that wait.
    @exclusivity(unchecked) var waitingLinks = 0

    /// Whether a call that arrives now is refused because of overload.
    /// - Parameter own: how many requests of its link wait.
    @inline(__always)
    func isOverloaded(forLinkWith own: Int, at now: Instant) -> Bool {
        guard overload.isOn, let oldest = inbox.oldest else { return false }
        return overload.refuses(
            Overload.Line(oldest: oldest, waiting: inbox.count, own: own, sessions: waitingLinks), at: now)
    }

    @inline(__always)
    private func checkLoop() {
        #if DEBUG
            loop.checkIsCurrent()
        #endif
    }

    @inline(__always)
    func accept(_ request: consuming IncomingRequest) {
        checkLoop()
        inbox.append(request)
        if !isCheckPending { attend() }
    }

    @inline(never)
    private func attend() {
        isCheckPending = true
        // A worker that pauses goes on by itself.
        guard pausing == 0 else { return checkLater() }
        if let worker = idle.popLast() { worker.resume() } else { startWorker() }
    }

    /// Checks later whether another worker is needed. Work and jobs share one queue on the loop, so this runs right after the
    /// woken worker has emptied the inbox, suspended in a subject, or paused.
    private func checkLater() {
        loop.submit { [self] in
            isCheckPending = false
            if !inbox.isEmpty { attend() }
        }
    }

    /// Called when a woken worker runs. It takes one request; if more wait, a check follows, since it may not get to them.
    private func arrived(_ worker: Worker) {
        checkLoop()
        if inbox.count > (worker.isUsedUp ? 0 : 1) { checkLater() } else { isCheckPending = false }
    }

    private func startWorker() {
        let worker = Worker(of: self)
        worker.task = Task(executorPreference: loop) { [self] in
            await withTaskCancellationHandler {
                await work(worker)
            } onCancel: {
                worker.wasCancelled()
            }
        }
    }

    private func work(_ worker: Worker) async {
        worker.address = RunningTask.address
        if !takeBack() { await follow() }
        while true {
            arrived(worker)
            while !worker.isUsedUp {
                guard putNext(in: &worker.place), await serve(worker) else { break }
            }
            guard !worker.isUsedUp, !isStopped, idle.count < maximumIdleWorkers else { return }
            await withUnsafeContinuation { continuation in
                worker.parked = continuation
                idle.append(worker)
            }
            if !takeBack() { await follow() }
        }
    }

    /// Runs the request in the worker's place, and those behind it with the same caller and deadline. Binding the task to their
    /// scope would cost a small call noticeably, so it is done once for all. Requests that were read together have one
    /// deadline.
    /// - Returns: false when another worker goes on instead.
    private func serve(_ worker: Worker) async -> Bool {
        var scope = worker.place.request.scope
        scope.worker = worker
        return await scope.entered { [scope] in
            repeat {
                await worker.runRequest()
                guard isPauseDue || isTimeToLook() else { continue }
                // One pausing worker is enough. With more, the loop would look at its sockets once in as many calls.
                guard pausing == 0 else {
                    isPauseDue = false
                    return false
                }
                await pause()
            } while !worker.isUsedUp && inbox.isFirst(in: scope) && putNext(in: &worker.place)
            return true
        }
    }

    @inline(__always)
    private func putNext(in place: inout RequestPlace) -> Bool {
        guard inbox.moveFirst(to: &place) else { return false }
        if turn.end == nil, !inbox.isEmpty { turn.begin(at: loop.now) }
        return true
    }

    /// Whether the next request is for the same method as this one and has the same scope.
    func isNext(like request: borrowing IncomingRequest) -> Bool { inbox.isFirst(like: request) }

    /// Puts the next request in the place of a worker that need not wait for it. False when it is time to pause.
    @inline(__always)
    func putNextInTurn(in place: inout RequestPlace) -> Bool {
        isPauseDue = isTimeToLook()
        return !isPauseDue && putNext(in: &place)
    }

    /// Moves the calling task to the thread that has the loop now. Returns since when that thread has had it, if that is known.
    @discardableResult
    func follow() async -> Instant? {
        let since = handoff?.lostSince
        repeat { await Task.yield() } while !takeBack()
        return since
    }

    /// Whether workers have kept the loop from its sockets for long while requests wait. The clock is read only if some wait,
    /// and not after each short call.
    private func isTimeToLook() -> Bool {
        guard let arrived = inbox.oldest else {
            overload.lineIsEmpty()
            turn.isOver()
            return false
        }
        guard turn.isLookDue() else { return false }
        let now = loop.now
        overload.begins(waitingSince: arrived, isShared: waitingLinks > 1, at: now)
        return turn.looked(at: now)
    }

    /// Lets the loop look at its sockets, and returns when it is this worker's turn again.
    private func pause() async {
        isPauseDue = false
        pausing += 1
        await Task.yield()
        if !takeBack() { await follow() }
        pausing -= 1
        turn.isOver()
    }

    /// Ends all idle workers, and others when they become idle. Called at the end of a loop.
    package func stop() {
        loop.submit { [self] in
            isStopped = true
            for worker in idle {
                worker.task?.cancel()
                worker.resume()
            }
            idle = []
        }
    }
}

// MARK: lending the loop's thread to foreign code

extension RequestRunner {
    /// Lends the loop. Called before a subject runs.
    @inline(__always)
    func lend() { handoff?.lend() }

    /// Takes the loop back. Called when a subject has returned. False when another thread has the loop by now.
    @inline(__always)
    func takeBack() -> Bool { handoff?.takeBack() ?? true }
}

/// How long workers have kept the loop from its sockets while requests wait. The clock is not read after each short call, since
/// reading it takes as long as much of such a call.
private struct WorkersTurn {
    private static let length: Int64 = 1_000_000
    private static let shortRequestsPerLook = 8
    private static let nanosecondsOfShortRequests: Int64 = 80_000

    /// When the next pause is due; nil while no request waits.
    private(set) var end: Instant?
    /// How many requests may end before the clock is read again.
    private var requestsUntilLook = 0
    /// When the clock was read last.
    private var lastLook = Instant(nanoseconds: .min)

    mutating func begin(at now: Instant) { end = now.advanced(byNanoseconds: Self.length) }

    mutating func isOver() { (end, requestsUntilLook) = (nil, 0) }

    /// Called when a request has ended. Returns whether the clock is to be read.
    @inline(__always)
    mutating func isLookDue() -> Bool {
        guard requestsUntilLook > 0 else { return true }
        requestsUntilLook -= 1
        return false
    }

    /// Called when the clock has been read. Returns whether it is time for a pause.
    mutating func looked(at now: Instant) -> Bool {
        let areShort = lastLook.nanoseconds(to: now) < Self.nanosecondsOfShortRequests
        (requestsUntilLook, lastLook) = (areShort ? Self.shortRequestsPerLook - 1 : 0, now)
        return end.map { now >= $0 } ?? false
    }
}
