// What two ends have in common beyond a single connection: what runs here for the other end, the answers that it has
// not acknowledged, how far each has come. Connections come and go under it; it ends when one of the two says so, or
// when the other has not come back in time.

import RPCSockets
import RPCWire

/// `@unchecked Sendable`: `shared` is a lock; all else that is variable is touched on the loop's thread only.
package final class Session: RequesterSession, @unchecked Sendable {
    private struct Shared {
        var id: String
        var address = ""
        var isOver = false
        /// Who wants to know when all is over.
        var onGone: [@Sendable () -> Void] = []
    }

    /// Where calls to the other end go. At the end that listens it ends with the session.
    package let peer: Requester
    /// Those of the peer. Here as well, since what is found through another object is counted while it is used.
    let loop: any Loop
    let runner: RequestRunner
    let exports: Exports
    private let shared: Lock<Shared>
    /// Where the other end finds the session again; nil at the end that dials.
    let table: SessionTable?
    /// Where its requests are counted; nil at an end that counts nothing. Asked several times for every message, and not
    /// counted itself: the settings of the peer keep it.
    let tally: Unmanaged<LoopTally>?

    // On the loop. Unchecked, because a check of each access costs a tenth of a call: one thread cannot be at a place twice
    // but by calling itself, and nothing here calls out before it has changed one of these.
    /// The connection that serves the session now.
    @exclusivity(unchecked) var connection: Connection?
    /// Whether the session goes on when its connection is lost.
    @exclusivity(unchecked) private(set) var isResumable = false
    /// The other end has left in good order.
    @exclusivity(unchecked) var hasLeft = false
    private var graceTimer: (any LoopTimer)?
    /// How long the other end waits for this one to come back, as it has told; after that there is no way back.
    private var grace: Duration?
    /// The line of the token list that has let the caller in, if a token has.
    var entry: TokenList.Entry?
    @exclusivity(unchecked) var receipts = Receipts()
    /// The answers that the other end may not have.
    @exclusivity(unchecked) var replies = KeptMessages()
    /// How many bytes of them the table has been told of.
    private(set) var noted = 0

    /// What the other end holds.
    private(set) lazy var held = HeldObjects(exports, limit: peer.settings.limits.maximumHolds)
    @exclusivity(unchecked) var methods = MethodCache()
    @exclusivity(unchecked) var calls: IncomingCalls
    /// When the loop will next look for deadlines.
    @exclusivity(unchecked) var alarm: (instant: Instant, timer: any LoopTimer)?
    @exclusivity(unchecked) var posts = PostQueue()
    /// Admitted requests that no worker has begun yet.
    @exclusivity(unchecked) var waitingRequests = 0
    /// Admitted requests that wait until the other end has acknowledged answers.
    @exclusivity(unchecked) var heldBack = RequestQueue()
    /// What the other end's calls may take unless they say otherwise, in milliseconds; nil for one that never said hello.
    @exclusivity(unchecked) var assumedTimeout: Int64?
    /// The most bytes that a message to the other end may have.
    @exclusivity(unchecked) var frameLimit: Int

    init(_ peer: Requester, in table: SessionTable?) {
        self.peer = peer
        (loop, runner, exports) = (peer.loop, peer.runner, peer.exports)
        self.table = table
        tally = peer.settings.traffic?.tally(of: runner.number).map { .passUnretained($0) }
        shared = Lock(Shared(id: Self.makeID()))
        frameLimit = peer.settings.limits.maximumFrameSize
        calls = IncomingCalls(
            limit: peer.settings.limits.maximumRequestsInFlight, byteLimit: peer.settings.limits.maximumBytesInFlight)
    }

    /// Names the session; whoever has it can take the session over, so it cannot be guessed. The end that listens makes
    /// it, the other is told.
    package var id: String { shared.withLock { $0.id } }
    /// Where the other end calls from now.
    var address: String { shared.withLock { $0.address } }

    static let lengthOfID = 32

    private static func makeID() -> String {
        var random = SystemRandomNumberGenerator()
        let halves = (random.next() as UInt64, random.next() as UInt64)
        return [halves.0, halves.1].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

// MARK: how it goes on and how it ends; on the loop

extension Session {
    /// The session whose connection was lost and that a new connection may go on with. On the loop.
    static func resumable(by requester: Requester) -> Session? {
        guard let session = requester.session as? Session, session.isResumable else { return nil }
        return session
    }

    /// This connection serves the session from now on.
    func served(by connection: Connection) {
        self.connection = connection
        // The former one may have been lost since this one asked for the session.
        table?.claimed(self)
        frameLimit = peer.frameLimit
        shared.withLock { $0.address = connection.stream.remoteAddress }
        graceTimer?.cancel()
        graceTimer = nil
    }

    /// Whether the other end can have come so far with what this one sends. Where no answers are kept none are counted.
    func canHave(_ progress: Progress) -> Bool {
        progress.requests <= peer.lastNumber && (progress.replies <= replies.last || !isResumable)
    }

    /// Both ends are ours: the session is to outlive its connection, if there is room for it.
    /// - Parameters:
    ///   - id: what the end that listens has named it; nil at that end.
    ///   - grace: how long it waits there for this end.
    func outlive(as id: String?, grace: Duration? = nil) {
        if let id { shared.withLock { $0.id = id } }
        self.grace = grace
        isResumable = table?.add(self) ?? true
    }

    /// The table is told how much is kept here, not of every answer but of every few kilobytes.
    @inline(__always)
    func noteReplies() {
        let change = replies.byteCount &- noted
        if change.magnitude >= 4_096 || change < 0 && replies.isEmpty { tellReplies(change) }
    }

    @inline(never)
    private func tellReplies(_ change: Int) {
        guard let table else { return }
        table.keeps(change)
        noted += change
    }

    private func letGoOfReplies() {
        replies.removeAll()
        noteReplies()
    }

    /// A connection is gone.
    func lost(_ connection: Connection, sent: UInt64, why: String) {
        peer.ended(connection.channel, sent: sent, why: why, sessionGoesOn: isResumable)
        // Another one may have taken its place.
        guard self.connection === connection else { return }
        self.connection = nil
        guard isResumable else { return end(why) }
        table?.left(self)
        guard let grace = table?.grace ?? grace else { return }
        graceTimer = loop.schedule(at: loop.now.advanced(by: grace)) { [self] in
            overran(.sessionGrace)
            end("the connection was not made again within \(grace) (sessionGrace): \(why)")
        }
    }

    /// There is no way back: the session ends with its connection, or now if it has none.
    func endWithConnection() {
        isResumable = false
        table?.remove(self)
        letGoOfReplies()
        releaseHeldBack()
        if connection == nil { end("there is no way back to the session") }
    }

    /// The session is over: what runs is cancelled, and all that was kept for the other end is let go.
    func end(_ why: String) {
        var onGone: [@Sendable () -> Void] = []
        let isFirst = shared.withLock { shared in
            swap(&onGone, &shared.onGone)
            defer { shared.isOver = true }
            return !shared.isOver
        }
        guard isFirst else { return }
        isResumable = false
        table?.remove(self)
        graceTimer?.cancel()
        alarm?.timer.cancel()
        stopRequests()
        // They find that they are stopped, and are counted off like all others.
        releaseHeldBack()
        letGoOfReplies()
        dropBatches()
        connection = nil
        if table != nil { peer.close(.gone(why)) } else { peer.sessionEnded(self, why) }
        for action in onGone { action() }
    }

    /// Runs the action when the session is over; at once if it is already. From anywhere.
    func whenGone(_ action: @escaping @Sendable () -> Void) {
        let isOver = shared.withLock { shared in
            if !shared.isOver { shared.onGone.append(action) }
            return shared.isOver
        }
        if isOver { action() }
    }
}
