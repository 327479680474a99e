// What an event of the calling side leaves to be done when the lock is free.

import RPCWire

/// What is to be done once the lock is free: calling out under it could come back for it.
struct AfterLock {
    /// Where something has been queued that is sent now.
    var flush: Connection?
    /// It is sent together with what others queue meanwhile.
    var flushesForAll = false
    var wantsConnection = false
    var wakeAt: Instant?
    var finished: [Connection]?

    /// Inlined, since all of it is copied otherwise, and hardly ever is there more to do than to flush.
    /// - Parameter isLast: the calling code does nothing more in this turn.
    @inline(__always)
    func perform(_ peer: Peer, isLast: Bool = false) {
        flush?.stream.flush(isLast ? .last : .more)
        if flushesForAll { peer.flushForAll() }
        if let wakeAt { peer.wake(at: wakeAt) }
        if wantsConnection { peer.connectionWanted() }
        if let finished { for connection in finished { connection.finishWhenIdle() } }
    }
}
