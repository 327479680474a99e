// One end of a conversation, whoever dialled: it calls, and it answers for what is exported. It outlives the
// connections that serve it one after the other. Calls come from proxies above; connections come and go below.

import JSONCodec
package import RPCSockets
package import RPCWire

package final class Peer: Sendable {
    /// The limits and times of one end.
    package struct Settings: Sendable {
        /// What the other end may do.
        package var limits = Limits()
        /// The tokens that let the other end in; nil lets everybody in. Behind a lock, because the list of a server that runs
        /// can be replaced.
        package var tokens = Lock<TokenList?>(nil)
        /// What this end shows when it is asked who it is.
        package var token: Token?
        /// Where what the other ends do is counted.
        package var traffic: Traffic?
        package var timeout: Duration = .seconds(30)
        package var maximumPendingCalls = 65_536
        /// How many bytes of posts may wait to be sent or acknowledged.
        package var maximumPendingPostBytes = 32 << 20
        /// Whether an end that dials says hello.
        package var saysHello = true

        package init() {}
    }

    struct State: ~Copyable {
        var outgoing = OutgoingCalls<WaitingCall>()
        /// Where new calls go; nil while there is none.
        var connection: Connection?
        /// Why no call may be made any more.
        var closed: RPCError?
        /// When the loop will next look for deadlines.
        var wakeAt = Instant.distantFuture
        var timer: (any LoopTimer)?
        /// Why there is no connection, for the callers that run out of time waiting for one.
        var whyUnavailable = noConnection
        static let noConnection = "no connection was made"
        /// There is no connection, and since the last one an attempt has failed or the other end did not answer.
        var isUnreachable = false
        /// A task is about to flush for all who are not on the loop.
        var isFlushPromised = false
        /// Connections that take no new calls but still owe answers to some.
        var leaving: [Connection] = []
        var onWanted: (@Sendable () -> Void)?
        var supported = SupportedMethods()
        /// Who the other end has proved to be.
        var identity: Identity?
        /// The most bytes that a message to the other end may have.
        var frameLimit: Int
        /// What new calls belong to; it may be without a connection now.
        var session: Session?
        /// Those that the other end may not have, whether they have been sent or not.
        var posts = KeptMessages()
        /// The number of the last post that was given to a connection.
        var lastPostGiven: Int64 = 0
        /// The posts that were given to a connection in `leaving` and not acknowledged, by the number of the connection. They
        /// are never sent again.
        var unsettled: [Int: [Int64]] = [:]
        /// How many posts were refused since the log was last told of one; that one included.
        var refusedPosts = 0
        /// How many posts were lost since no more are taken.
        var lostPosts = 0
        /// Called when no post is pending any more. Set while no calls and posts are taken but those made before are still sent.
        var onSettled: (@Sendable () -> Void)?
        /// Called when no calls and posts are taken any more, by the numbers of the watches.
        var onClosed: [Int: @Sendable () -> Void] = [:]
        var lastWatch = 0
        /// Calls that were sent and that nobody waits for any more; the other end may not know yet.
        var abandoned: Set<Int64> = []
        /// The other end closes its connections after an answer, as far as is known.
        var answersOnce = false
    }

    package let loop: any Loop
    /// One for all peers of a server.
    /// Shared with all peers of a server, and with their connections.
    let sharedSettings: Shared<Settings>
    package var settings: Settings { sharedSettings.value }
    let exports: Exports
    let runner: RequestRunner
    /// What a call may take, in nanoseconds, ready to be added.
    let timeout: Int64
    let log: @Sendable (String) -> Void
    let state: Lock<State>
    let spareCalls = SpareCalls()

    package convenience init(
        runner: RequestRunner, exports: Exports, settings: Settings = Settings(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(runner: runner, exports: exports, shared: Shared(settings), log: log)
    }

    package init(
        runner: RequestRunner, exports: Exports, shared settings: Shared<Settings>,
        log: @escaping @Sendable (String) -> Void
    ) {
        loop = runner.loop
        self.runner = runner
        self.exports = exports
        sharedSettings = settings
        state = Lock(State(frameLimit: settings.value.limits.maximumFrameSize))
        timeout = settings.value.timeout.nanoseconds
        self.log = log
    }

    deinit {
        let more = state.withLock { $0.refusedPosts } - 1
        if more > 0 { log(Self.moreRefused(more)) }
    }

    /// Has `dial` called whenever a call waits and there is no connection.
    func whenConnectionWanted(_ dial: @escaping @Sendable () -> Void) {
        state.withLock { $0.onWanted = dial }
    }

    /// The other end takes no longer messages.
    func limitFrames(to size: Int?) {
        let own = settings.limits.maximumFrameSize
        state.withLock { $0.frameLimit = min(own, max(64, size ?? .max)) }
    }

    /// The most bytes that a message to the other end may have.
    var frameLimit: Int { state.withLock { $0.frameLimit } }

    /// The highest number that a call or a post has had.
    var lastNumber: Int64 { state.withLock { $0.outgoing.nextID - 1 } }

    func connectionWanted() {
        state.withLock { $0.onWanted }?()
    }

    func wake(at instant: Instant) {
        // Strong, and cancelled by `close`: a weak reference would make every other reference to the peer slow.
        let timer = loop.schedule(at: instant) { [self] in deadlineDue() }
        let old = state.withLock { state -> (any LoopTimer)? in
            // Another may have set an earlier one since; that one must not be cancelled for this.
            guard state.closed == nil, instant == state.wakeAt else { return timer }
            defer { state.timer = timer }
            return state.timer
        }
        old?.cancel()
    }

    var answersOnce: Bool {
        get { state.withLock { $0.answersOnce } }
        set { state.withLock { $0.answersOnce = newValue } }
    }

    /// Who the other end has proved to be. Set when it has, before any of its calls is run.
    package var identity: Identity? {
        get { state.withLock { $0.identity } }
        set { state.withLock { $0.identity = newValue } }
    }
}

extension Peer.State {
    /// A message that is would cost all who share the connection: the other end gives it up.
    func isTooLarge(_ call: OutgoingCall) -> Bool { call.count > frameLimit - 64 }

    /// How many posts are not sent yet, or not acknowledged by the other end.
    var pendingPosts: Int { posts.count + unsettled.values.reduce(0) { $0 + $1.count } }

    /// What is to be done now that the last pending post is settled, if it is.
    mutating func takeSettled() -> (@Sendable () -> Void)? {
        guard onSettled != nil, pendingPosts == 0 else { return nil }
        return onSettled.take()
    }

    /// Connections from which nothing is awaited any more, if there are any.
    mutating func takeFinishedLeavers() -> [Connection]? {
        guard !leaving.isEmpty else { return nil }
        let finished = leaving.filter { unsettled[$0.number] == nil && !outgoing.isWaiting(on: $0.number) }
        leaving.removeAll { connection in finished.contains { $0 === connection } }
        return finished
    }

    /// The connection over which this call was sent, if it is still there.
    func connection(of call: OutgoingCalls<WaitingCall>.Removed) -> Connection? {
        if connection?.number == call.stream { return connection }
        return leaving.first { $0.number == call.stream }
    }

    /// Who waits for the calls that have left the table, and finds there how each ended.
    func waiters(
        of removed: [OutgoingCalls<WaitingCall>.Removed], _ end: (_ wasSent: Bool) -> CallEnd
    ) -> [Waiter] {
        removed.compactMap { removed in
            var end = end(removed.wasSent)
            return removed.kept.leave(&end)
        }
    }
}
