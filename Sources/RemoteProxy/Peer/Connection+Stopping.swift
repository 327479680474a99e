// How requests in progress are stopped — cancelled by the peer, past their deadline, nobody left to answer — and how a
// connection drains. A stopped request keeps its place until its subject has returned.

import RPCWire
import Synchronization

extension Connection {
    /// The subject returned. Tells why it had been asked to stop, if it had.
    func finish(_ request: IncomingRequest) -> IncomingCalls.Stop? {
        let (stop, isDrained) = answering.withLock { answering in
            answering.release(request.slot)
            let stop = answering.calls.finish(slot: request.slot)
            return (stop, answering.calls.isDrained)
        }
        // After this turn, so that the last answer is in the queue before the connection finishes.
        if isDrained, !isOurKind { stream.loop.submit { [stream] in stream.finish() } }
        return stop
    }

    func cancelRequest(_ id: RPCIdentifier) {
        stopWorkers { $0.calls.cancel(id).map { [$0] } ?? [] }
    }

    func stopRequests() {
        stopWorkers { $0.calls.connectionLost() }
    }

    func wake(at deadline: Instant) {
        guard deadline < .distantFuture else { return }
        let isNext = answering.withLock { answering in
            guard deadline < answering.wakeAt else { return false }
            answering.wakeAt = deadline
            return true
        }
        if isNext { stream.loop.schedule(at: deadline) { [weak self] in self?.requestsDue() } }
    }

    private func requestsDue() {
        let now = stream.loop.now
        stopWorkers { $0.calls.expire(at: now) }
        let next = answering.withLock { answering in
            answering.wakeAt = .distantFuture
            return answering.calls.nextDeadline
        }
        if let next { wake(at: next) }
    }

    /// Cancelling runs the subject's cancellation handlers, so it happens outside the lock.
    private func stopWorkers(_ event: (inout Answering) -> [Int]) {
        let workers = answering.withLock { answering in
            event(&answering).compactMap { answering.worker(in: $0) }
        }
        for worker in workers { worker.task?.cancel() }
    }

    /// Begins nothing new; what runs goes on. The connection ends when the last call has answered: a peer of our own
    /// kind is told, and closes its end when it has all its answers, so that a call on its way here is refused and
    /// not lost; for another peer this end closes.
    package func drain() {
        let isDrained = answering.withLock { answering in
            answering.calls.drain()
            return answering.calls.isDrained
        }
        if isOurKind {
            append { MessageEncoder.writeNotification(SystemMethod.drain, in: $0) }
            stream.flush()
        } else if isDrained {
            stream.finish()
        }
    }

    /// How many requests run now; for limits over all connections and for statistics.
    package var requestsInFlight: Int { answering.withLock { $0.calls.count } }
}

extension Connection.Answering {
    mutating func hold(_ worker: Worker, in slot: Int) {
        while workers.count <= slot { workers.append(nil) }
        workers[slot] = worker
    }

    mutating func release(_ slot: Int) {
        if workers.indices.contains(slot) { workers[slot] = nil }
    }

    func worker(in slot: Int) -> Worker? {
        workers.indices.contains(slot) ? workers[slot] : nil
    }
}

/// Posts of one connection run one at a time, in the order in which they came.
struct PostQueue {
    private var isRunning = false
    private var waiting: [IncomingRequest] = []

    /// False when another one is running: the post waits, and whoever runs that one runs it afterwards.
    mutating func begin(_ post: IncomingRequest) -> Bool {
        if isRunning { waiting.append(post) }
        defer { isRunning = true }
        return !isRunning
    }

    mutating func next() -> IncomingRequest? {
        guard !waiting.isEmpty else {
            isRunning = false
            return nil
        }
        return waiting.removeFirst()
    }
}
