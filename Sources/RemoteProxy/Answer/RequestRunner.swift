// Runs requests on the loop, in place. A worker is a task on the loop that takes one request after the other for as
// long as the subjects do not suspend: the semantics of async at the price of a plain call. When one does suspend, the
// loop gets control back and sets another worker to the rest; the first goes on when its subject does. Where some wait a
// worker pauses each millisecond, so that the loop sends the answers there are and sees what else has come. While a subject
// has a worker's thread the loop is lent; when it has gone on with another meanwhile, the worker follows it there.

import JSONCodec
package import RPCSockets
package import RPCWire

/// `@unchecked Sendable`: everything here is touched on the loop's thread only.
package final class RequestRunner: @unchecked Sendable {
    package let loop: any Loop
    /// Has the loop go on with another thread while a subject keeps this one; nil where it never does.
    let handoff: (any Handoff)?
    /// Which of the loops of one server this is.
    package let number: Int
    @exclusivity(unchecked) private var inbox = RequestQueue()
    @exclusivity(unchecked) private var overload: Overload
    @exclusivity(unchecked) private var idle: [Worker] = []
    /// A worker has been woken and has not looked yet, or the loop is to check whether another one is to be.
    @exclusivity(unchecked) private var isAttended = false
    /// Workers that let the loop have a look at its sockets.
    @exclusivity(unchecked) private var pausing = 0
    /// One has seen that it is time for it, which is not seen twice, and is on its way back to where it pauses.
    @exclusivity(unchecked) private var isPauseDue = false
    @exclusivity(unchecked) private var turn = WorkersTurn()
    @exclusivity(unchecked) private var isStopped = false
    /// Idle workers kept for the next burst; each is a task of about a kilobyte.
    private let maximumIdleWorkers = 64

    /// - Parameters:
    ///   - handoff: has the loop go on with another thread while a subject keeps this one.
    ///   - maximumWait: how long calls of several sessions may wait for their turn before it is an overload; zero for ever.
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

    /// Whether a call that arrives now is refused because more come than can be done.
    /// - Parameter own: how many requests of its link wait.
    @inline(__always)
    func isOverloaded(forLinkWith own: Int, at now: Instant) -> Bool {
        guard overload.isOn, let oldest = inbox.oldest else { return false }
        return overload.refuses(
            Overload.Line(oldest: oldest, waiting: inbox.count, own: own, sessions: waitingLinks), at: now)
    }

    @inline(__always)
    func accept(_ request: consuming IncomingRequest) {
        inbox.append(request)
        if !isAttended { attend() }
    }

    @inline(never)
    private func attend() {
        isAttended = true
        // One that pauses goes on by itself.
        guard pausing == 0 else { return checkLater() }
        if let worker = idle.popLast() { worker.resume() } else { startWorker() }
    }

    /// Work and jobs share one queue on the loop: this runs right after the worker that has been woken has emptied the inbox,
    /// suspended in a subject or paused.
    private func checkLater() {
        loop.submit { [self] in
            isAttended = false
            if !inbox.isEmpty { attend() }
        }
    }

    /// A worker is there that was woken. It takes one request; if there are more it may not get to them.
    private func arrived(_ worker: Worker) {
        if inbox.count > (worker.isUsedUp ? 0 : 1) { checkLater() } else { isAttended = false }
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

    /// Runs the request in the worker's place and those that follow it with the same caller and the same deadline. The task is
    /// bound to their scope once, which a small call would notice; requests that were read at once have one deadline.
    /// - Returns: false when another worker goes on instead.
    private func serve(_ worker: Worker) async -> Bool {
        let scope = worker.place.request.scope
        return await scope.entered {
            repeat {
                await worker.runRequest()
                guard isPauseDue || isTimeToLook() else { continue }
                // One that pauses is enough. With more of them the loop would look at its sockets once in as many calls.
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

    /// For a worker that has finished one and need not wait for the next. False when it is time to pause.
    @inline(__always)
    func putNextInTurn(in place: inout RequestPlace) -> Bool {
        isPauseDue = isTimeToLook()
        return !isPauseDue && putNext(in: &place)
    }

    /// Goes on where the loop is now. Answers since when another thread has had it, if that is known.
    @discardableResult
    func follow() async -> Instant? {
        let since = handoff?.lostSince
        repeat { await Task.yield() } while !takeBack()
        return since
    }

    /// Whether workers have kept the loop from its sockets for long while others wait. The clock is read only if some do,
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

    /// Lets the loop look at its sockets; then it is this worker's turn again.
    private func pause() async {
        isPauseDue = false
        pausing += 1
        await Task.yield()
        if !takeBack() { await follow() }
        pausing -= 1
        turn.isOver()
    }

    /// Lets idle workers go. For the end of a loop.
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

// MARK: the loop's thread, and code that is not the library's

extension RequestRunner {
    /// A subject is about to run.
    @inline(__always)
    func lend() { handoff?.lend() }

    /// A subject has returned. False when the loop has gone on with another thread.
    @inline(__always)
    func takeBack() -> Bool { handoff?.takeBack() ?? true }
}

/// How long workers have kept the loop from its sockets while requests wait. The clock is not read after each short call:
/// reading it takes as long as much of one.
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

    /// A request has ended. Whether the clock is to be read.
    @inline(__always)
    mutating func isLookDue() -> Bool {
        guard requestsUntilLook > 0 else { return true }
        requestsUntilLook -= 1
        return false
    }

    /// The clock has been read. Whether it is time for a pause.
    mutating func looked(at now: Instant) -> Bool {
        let areShort = lastLook.nanoseconds(to: now) < Self.nanosecondsOfShortRequests
        (requestsUntilLook, lastLook) = (areShort ? Self.shortRequestsPerLook - 1 : 0, now)
        return end.map { now >= $0 } ?? false
    }
}
