// The driver of `SharedFlush`: who writes what callers have queued, and the task that does it for all.

import RPCWire

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
