// Who writes what callers have queued: the loop, for those who are on it; a caller that is alone, for itself; or a task, for
// several who are elsewhere.

import RPCWire

extension Peer {
    /// How a message just queued gets on its way. On the loop the stream flushes at the end of the turn. Elsewhere a
    /// lone caller writes at once; several share one flush.
    func flushing(_ connection: Connection, atOnce: Bool, _ state: inout State) -> AfterLock.Flush {
        if atOnce { return .now(connection.stream) }
        defer { state.isFlushPromised = true }
        return state.isFlushPromised ? .byAnother : .forAll
    }

    /// Behind the callers that are ready to run.
    func flushForAll() {
        Task.detached(priority: Task.currentPriority) { [self] in
            state.withLock { state in
                state.isFlushPromised = false
                return state.connection?.stream
            }?.flush()
        }
    }
}
