// Who writes what callers have queued: the loop, for those who are on it; a caller that is alone, for itself; or a task, for
// several who are elsewhere.

import RPCSockets
import RPCWire

extension Peer {
    /// How a message just queued gets on its way. On the loop the stream flushes, at the end of the turn or before. Elsewhere a
    /// lone caller writes at once; several share one flush.
    func flushing(_ connection: Connection, atOnce: Bool, _ state: inout State) -> AfterLock {
        if atOnce { return AfterLock(flush: connection) }
        defer { state.isFlushPromised = true }
        return AfterLock(flushesForAll: !state.isFlushPromised)
    }

    /// Behind the callers that are ready to run. Elsewhere, since making a task makes room for one beforehand.
    @inline(never)
    func flushForAll() {
        Task.detached(priority: Task.currentPriority) { [self] in
            state.withLock { state in
                state.isFlushPromised = false
                return state.connection?.stream
            }?.flush()
        }
    }
}
