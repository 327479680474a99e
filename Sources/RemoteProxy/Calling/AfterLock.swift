// What an event of the calling side leaves to be done when the lock is free, and who writes what it has queued.

import RPCWire

/// What is to be done once the lock is free: calling out under it could come back for it.
struct AfterLock {
    enum Flush {
        case byAnother
        case now(any ByteStream)
        case forAll
    }

    var flush = Flush.byAnother
    /// Nobody else waits for an answer, as nobody did lately: the caller may fetch its own, to this call.
    var mayVisit: OutgoingCalls.Ticket?
    var wantsConnection = false
    var wakeAt: Instant?
    var finished: [Connection]?

    func perform(_ peer: Peer) {
        switch flush {
        case .byAnother: break
        case .now(let stream): stream.flush()
        case .forAll: peer.flushForAll(Task.currentPriority)
        }
        if let wakeAt { peer.wake(at: wakeAt) }
        if wantsConnection { peer.connectionWanted() }
        if let finished { for connection in finished { connection.finishWhenIdle() } }
    }
}

extension Peer {
    /// How a message just queued gets on its way. On the loop the stream flushes at the end of the turn. Elsewhere a
    /// lone caller writes at once; several share one flush.
    func flushing(_ connection: Connection, atOnce: Bool, _ state: inout State) -> AfterLock.Flush {
        if atOnce { return .now(connection.stream) }
        return state.sharedFlush.want(Task.currentPriority.rawValue) ? .forAll : .byAnother
    }

    /// Behind the callers that are ready to run.
    func flushForAll(_ priority: TaskPriority) {
        Task.detached(priority: priority) { [self] in
            while !state.withLock({ $0.sharedFlush.begin() }) {}
            state.withLock { $0.connection?.stream }?.flush()
        }
    }
}
