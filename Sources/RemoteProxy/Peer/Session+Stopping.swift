// How requests in progress are stopped: cancelled by the other end, past their deadline, nobody left to answer. A
// stopped request keeps its place until its subject has returned. On the loop.

import RPCWire

extension Session {
    /// No answer is awaited any more. Posts of an end that has left in good order still run: it was told that they have come.
    func stopRequests() {
        stopWorkers(in: hasLeft ? calls.peerLeft() : calls.sessionEnded())
    }

    /// Whether the call that a cancellation is about has been admitted.
    func runs(canceledBy request: Request) -> Bool {
        request.params.flatMap(RPCIdentifier.init(cancelParams:)).map { calls.isRunning($0) } ?? false
    }

    func cancelRequest(_ id: RPCIdentifier) {
        guard let slot = calls.cancel(id) else { return connection?.cancelledNothing() ?? () }
        stopWorkers(in: [slot])
    }

    /// The other end has left in good order.
    func saidGoodbye() {
        hasLeft = true
        if table != nil { peer.otherEndLeft() }
        endWithConnection()
        stopRequests()
    }

    @inline(__always)
    func wake(at deadline: Instant) {
        if deadline < alarm?.instant ?? .distantFuture { setAlarm(deadline) }
    }

    @inline(never)
    private func setAlarm(_ deadline: Instant) {
        alarm?.timer.cancel()
        // Strong, and cancelled with the session: a weak reference would make every other one to it slow.
        alarm = (deadline, loop.schedule(at: deadline) { [self] in requestsDue() })
    }

    private func requestsDue() {
        alarm = nil
        stopWorkers(in: calls.expire(at: loop.now))
        if let next = calls.nextDeadline { wake(at: next) }
    }

    /// Cancelling runs the subjects' cancellation handlers, in here.
    func stopWorkers(in slots: [Int]) {
        for slot in slots {
            let worker = calls.runner(of: slot)?.takeUnretainedValue() as? Worker
            worker?.task?.cancel()
        }
    }
}
