// What an event of the calling side leaves to be done when the lock is free.

import RPCWire

/// What is to be done once the lock is free: calling out under it could come back for it.
struct AfterLock {
    enum Flush {
        case byAnother
        case now(any ByteStream)
        case forAll
    }

    var flush = Flush.byAnother
    var wantsConnection = false
    var wakeAt: Instant?
    var finished: [Connection]?

    func perform(_ peer: Peer) {
        switch flush {
        case .byAnother: break
        case .now(let stream): stream.flush()
        case .forAll: peer.flushForAll()
        }
        if let wakeAt { peer.wake(at: wakeAt) }
        if wantsConnection { peer.connectionWanted() }
        if let finished { for connection in finished { connection.finishWhenIdle() } }
    }
}
