// How requests in progress are stopped — cancelled by the peer, past their deadline, nobody left to answer — and how a
// connection drains. A stopped request keeps its place until its subject has returned.

import RPCWire

extension Connection {
    func hold(_ worker: Worker, in slot: Int) {
        while workers.count <= slot { workers.append(nil) }
        workers[slot] = worker
    }

    /// The subject returned. Tells why it had been asked to stop, if it had.
    func finish(_ request: IncomingRequest) -> IncomingCalls.Stop? {
        if workers.indices.contains(request.slot) { workers[request.slot] = nil }
        let stop = calls.finish(slot: request.slot)
        requestEnded()
        unstall()
        finishIfAnswered()
        return stop
    }

    /// Closes a connection on which nothing more will be asked when the last answer has been given.
    func finishIfAnswered() {
        let isOver = calls.isDrained && !isOurKind || (isHalfClosed || isLeft) && calls.count == 0 && !isReadingLater
        guard isOver else { return }
        // After this turn, so that the last answer is in the queue before the connection finishes.
        stream.loop.submit { [stream] in stream.finish() }
    }

    /// Nothing is awaited from this connection any more; when nothing runs for it either, it ends. Safe from anywhere.
    func finishWhenIdle() {
        stream.loop.submit { [self] in
            isLeft = true
            finishIfAnswered()
        }
    }

    func cancelRequest(_ id: RPCIdentifier) {
        guard let slot = calls.cancel(id) else { return cancelledNothing() }
        stopWorkers(in: [slot])
    }

    func stopRequests() {
        stopWorkers(in: calls.connectionLost())
    }

    func wake(at deadline: Instant) {
        guard deadline < alarm?.instant ?? .distantFuture else { return }
        alarm?.timer.cancel()
        // Strong, and cancelled with the connection: a weak reference would make every other one to it slow.
        alarm = (deadline, stream.loop.schedule(at: deadline) { [self] in requestsDue() })
    }

    private func requestsDue() {
        alarm = nil
        stopWorkers(in: calls.expire(at: stream.loop.now))
        if let next = calls.nextDeadline { wake(at: next) }
    }

    /// Cancelling runs the subjects' cancellation handlers, in here.
    func stopWorkers(in slots: [Int]) {
        for slot in slots where workers.indices.contains(slot) { workers[slot]?.task?.cancel() }
    }

    /// Begins nothing new; what runs goes on. The connection ends when the last call has answered: a peer of our own
    /// kind is told, and closes its end when it has all its answers, so that a call on its way here is refused and
    /// not lost; for another peer this end closes. Safe from anywhere.
    package func drain() {
        stream.loop.submit { [self] in
            calls.drain()
            if isOurKind {
                append { MessageEncoder.writeNotification(SystemMethod.drain, in: $0) }
                stream.flush()
            } else if calls.isDrained {
                stream.finish()
            }
        }
    }
}

/// Posts of one connection run one at a time, in the order in which they came.
struct PostQueue {
    private var isRunning = false
    private var waiting = RequestQueue()

    /// False when another one is running: the post waits, and whoever runs that one runs it afterwards.
    mutating func begin(_ post: IncomingRequest) -> Bool {
        if isRunning { waiting.append(post) }
        defer { isRunning = true }
        return !isRunning
    }

    mutating func next() -> IncomingRequest? {
        let next = waiting.popFirst()
        if next == nil { isRunning = false }
        return next
    }
}
