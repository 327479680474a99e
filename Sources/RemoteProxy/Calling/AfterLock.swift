// What an event of the calling side leaves to be done when the lock is free, and how writes are shared among callers.

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
    var finished: [Connection] = []

    func perform(_ peer: Peer) {
        switch flush {
        case .byAnother: break
        case .now(let stream): stream.flush()
        case .forAll: peer.flushForAll()
        }
        if let wakeAt { peer.wake(at: wakeAt) }
        if wantsConnection { peer.connectionWanted() }
        for connection in finished { connection.finishWhenIdle() }
    }
}

extension Peer {
    /// How a message just queued gets on its way. On the loop the stream flushes at the end of the turn. Elsewhere a
    /// lone caller writes at once; of several, one makes a task that flushes for all, behind the others that are ready
    /// to run, because a write for each would cost them far more than the wait.
    func flushing(_ connection: Connection, isAlone: Bool, _ state: inout State) -> AfterLock.Flush {
        if isAlone || loop.isCurrent { return .now(connection.stream) }
        if state.isFlushShared { return .byAnother }
        state.isFlushShared = true
        return .forAll
    }

    fileprivate func flushForAll() {
        Task.detached(priority: Task.currentPriority) { [self] in
            let stream = state.withLock { state in
                state.isFlushShared = false
                return state.connection?.stream
            }
            stream?.flush()
        }
    }
}
