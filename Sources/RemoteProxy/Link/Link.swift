// Everything between two ends, beyond a single connection: where calls to the other end go, what runs here for it, the answers
// that it has not acknowledged, how far each end has come. Channels come and go under it. It ends when one of the two says so,
// or when the other has not come back in time.

package import RPCSockets
package import RPCWire

/// What the links of a client, or those on one loop of a server, have in common.
package struct LinkContext: Sendable {
    package let runner: RequestRunner
    package let exports: Exports
    package let settings: Shared<LinkSettings>
    /// Where the other ends find their sessions again; nil for an end that dials.
    package let sessions: SessionTable?
    let log: @Sendable (String) -> Void

    package init(
        runner: RequestRunner, exports: Exports, settings: Shared<LinkSettings> = Shared(LinkSettings()),
        sessions: SessionTable? = nil, log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        (self.runner, self.exports, self.settings, self.sessions) = (runner, exports, settings, sessions)
        self.log = log
    }
}

/// Drives the two halves of a conversation: `Requester` the calling half, which may outlive the link, and this class the answering
/// half. A fresh link greets on each channel. When the greeting says that a session goes on, the channel moves to the link that has
/// that session.
///
/// `@unchecked Sendable`: `shared` is a lock; all else that is variable is touched on the loop's thread only.
package final class Link: @unchecked Sendable {
    private struct Shared {
        var id: String
        var address = ""
        /// The identity that the other end has proved. Set when it has, before any of its calls is run.
        var identity: Identity?
        /// Called when all is over; nil once it is.
        var onGone: [@Sendable () -> Void]? = []
    }

    let context: LinkContext
    /// Where calls to the other end go. At the end that listens it ends with the link.
    package let requester: Requester
    /// That of the context's runner. Here as well, since what is found through another object is counted while it is used.
    let loop: any Loop
    private let shared: Lock<Shared>

    // On the loop. Unchecked, because a check of each access costs a tenth of a call: one thread cannot be at a place twice
    // but by calling itself, and nothing here calls out before it has changed one of these.
    /// The channel that serves the link now.
    @exclusivity(unchecked) private(set) var channel: MessageChannel?
    @exclusivity(unchecked) package internal(set) var half: AnswererHalf
    @exclusivity(unchecked) var admission: Admission
    @exclusivity(unchecked) var methods = MethodCache()
    /// The objects that the other end holds.
    private(set) lazy var held = HeldObjects(context.exports, limit: settings.limits.maximumHolds)
    @exclusivity(unchecked) var posts = PostQueue()
    /// Admitted requests that wait until the other end has acknowledged answers.
    @exclusivity(unchecked) var heldBack = RequestQueue()
    /// Due at the next deadline of a request.
    @exclusivity(unchecked) var deadlineTimer: (any LoopTimer)?
    private var graceTimer: (any LoopTimer)?
    /// The line of the token list that has let the caller in, if a token has.
    var entry: TokenList.Entry?

    /// - Parameter requester: a client's, to which its links belong one after the other. Nil makes one for this link alone.
    package init(_ context: LinkContext, _ requester: Requester? = nil) {
        self.context = context
        self.requester = requester ?? Requester(context)
        loop = context.runner.loop
        shared = Lock(Shared(id: Self.makeID()))
        half = AnswererHalf(context.settings.value.limits.answering)
        admission = Admission(context)
    }
}

extension Link {
    var runner: RequestRunner { context.runner }
    var exports: Exports { context.exports }
    var settings: LinkSettings { context.settings.value }
    /// Whether the other end came here.
    private var isAccepted: Bool { context.sessions != nil }

    /// Names the session. The end that has it can take the session over, so it cannot be guessed. The end that listens makes
    /// it, the other is told.
    package var id: String { shared.withLock { $0.id } }
    /// Where the other end calls from now.
    var address: String { shared.withLock { $0.address } }

    package var identity: Identity? {
        get { shared.withLock { $0.identity } }
        set { shared.withLock { $0.identity = newValue } }
    }

    static let lengthOfID = 32

    private static func makeID() -> String {
        var random = SystemRandomNumberGenerator()
        let halves = (random.next() as UInt64, random.next() as UInt64)
        return [halves.0, halves.1].map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    /// A message could not be had, or a peer has run into another limit.
    func overran(_ limit: Limit?) {
        if let limit { settings.traffic?.overran(limit) }
    }
}

// MARK: how it goes on; on the loop

extension Link {
    /// The link whose channel was lost and that a new channel may go on with.
    package static func resumable(by requester: Requester) -> Link? {
        requester.link.flatMap { $0.half.life.isResumable ? $0 : nil }
    }

    /// This channel serves the link from now on.
    func served(by channel: MessageChannel) {
        self.channel = channel
        // The former one may have been lost since this one asked for the session.
        context.sessions?.claimed(self)
        half.limitFrames(to: requester.ask { $0.frameLimit })
        shared.withLock { $0.address = channel.stream.remoteAddress }
        graceTimer?.cancel()
        graceTimer = nil
    }

    /// Takes the place of the channel that served the link before, and sends again what the other end lacks.
    func resume(over channel: MessageChannel, from progress: Progress) {
        self.channel?.replaced()
        served(by: channel)
        acknowledged(replies: progress.replies)
        for reply in half.resumed(replies: progress.replies) { reply.withUnsafeBytes { _ = channel.append($0) } }
        requester.attach(channel, .resumed(received: progress.requests))
    }

    /// Both ends are ours: the session is to outlive its channel, if there is room for it.
    /// - Parameters:
    ///   - id: what the end that listens has named it; nil at that end.
    ///   - grace: how long it waits there for this end; nil if it did not say.
    func outlive(as id: String?, grace: Duration?) {
        if let id { shared.withLock { $0.id = id } }
        guard context.sessions?.add(self) ?? true else { return }
        half.life.goesOn(for: context.sessions?.grace ?? grace ?? Life.forEver)
    }

    /// A channel is gone.
    func lost(_ channel: MessageChannel, sent: UInt64, why: String) {
        requester.ended(channel, sent: sent, why: why, sessionGoesOn: half.life.isResumable)
        // Another one may have taken its place.
        guard self.channel === channel else { return }
        self.channel = nil
        guard half.life.lost(at: loop.now) else { return end(why) }
        context.sessions?.left(self)
        guard case .lost(let until) = half.life.phase, until < .distantFuture, let grace = half.life.grace else {
            return
        }
        graceTimer = loop.schedule(at: until) { [self] in
            overran(.sessionGrace)
            end("the connection was not made again within \(grace) (sessionGrace): \(why)")
        }
    }
}

// MARK: how it ends; on the loop, unless it says otherwise

extension Link {
    /// The other end is going away: new calls wait for the next channel.
    func leave(because why: String) {
        guard let channel, requester.leave(channel, why: why) else { return }
        endWithChannel()
        // Or the other end could not say which of its posts have come.
        if channel.isOurKind { report(over: channel, flush: false) }
        // What callers have queued here and promised to flush later is theirs to be sent.
        channel.stream.flush()
        channel.events.leaving(channel, why)
    }

    /// Begins nothing new.
    func drain(over channel: MessageChannel) {
        half.calls.drain()
        if channel.isOurKind { channel.notify(SystemMethod.drain) } else { channel.finishIfAnswered() }
    }

    /// The other end has left in good order.
    func saidGoodbye() {
        half.life.hasLeft = true
        if isAccepted { requester.ask { $0.otherEndLeft() } }
        endWithChannel()
        stopRequests()
    }

    /// There is no way back: the link ends with its channel, or now if it has none.
    func endWithChannel() {
        half.endsWithChannel()
        context.sessions?.remove(self)
        noteReplies()
        releaseHeldBack()
        if channel == nil { end("there is no way back to the session") }
    }

    /// The link is over: what runs is cancelled, and all that was kept for the other end is let go.
    package func end(_ why: String) {
        guard let stops = half.close() else { return }
        context.sessions?.remove(self)
        graceTimer?.cancel()
        deadlineTimer?.cancel()
        stopWorkers(in: stops)
        // They find that they are stopped, and are counted off like all others.
        releaseHeldBack()
        noteReplies()
        admission.tellBytes(of: &half)
        channel = nil
        if isAccepted { requester.close(.gone(why)) } else { requester.linkEnded(self, why) }
        let onGone = shared.withLock { $0.onGone.take() }
        for action in onGone ?? [] { action() }
    }

    /// The other end says that it has more than this one has sent: it counts wrong, or a byte has changed on the way. Which calls
    /// it would still run and answer cannot be known, so the session ends here, and with it every channel that serves it.
    func endMiscounted(over channel: MessageChannel) {
        let why = "\(channel.stream.remoteAddress) says that it has more of the session than it was sent"
        requester.log("closed the connection: \(why)")
        channel.close(because: why)
        if self.channel !== channel { self.channel?.replaced() }
        end(why)
        channel.stream.abort()
    }

    /// Runs the action when the link is over; at once if it is already. From anywhere.
    func whenGone(_ action: @escaping @Sendable () -> Void) {
        let isOver = shared.withLock { shared in
            shared.onGone?.append(action)
            return shared.onGone == nil
        }
        if isOver { action() }
    }
}

// MARK: when the list of tokens is replaced; on the loop
//
// The list is replaced first, then every channel and link is judged on its own loop. The server knows a channel before it opens,
// so one that it does not know yet opens, and logs in, under the new list. A channel that goes on with another link changes its
// loop and might be missed there; it is judged once more when the server knows it in its new place.

extension Link {
    /// Ends the link and the channel that serves it when the list that counts now would not let its caller in. A caller that has
    /// not logged in yet is left alone.
    /// - Returns: whether the link was revoked.
    @discardableResult
    func endIfRevoked() -> Bool {
        guard isAccepted, let tokens = settings.tokens.withLock({ $0 }) else { return false }
        guard channel?.gate.login.isLocked != true, !tokens.keeps(identity, by: entry) else { return false }
        let name = identity.map { "'\($0.name)'" } ?? "a caller without a token"
        let why = "the list of tokens has changed and does not let in \(name) as before"
        // Nor are the posts wanted that it left behind.
        half.life.hasLeft = false
        guard let channel else {
            end(why)
            return true
        }
        requester.log("closed \(channel.stream.remoteAddress): \(why)")
        channel.close(because: why)
        end(why)
        channel.stream.abort()
        return true
    }

    /// Whether neither what this channel has shown nor what the link stands on was revoked, asked before the channel takes
    /// the link over.
    func mayBeTakenOver(by channel: MessageChannel) -> Bool {
        guard let tokens = settings.tokens.withLock({ $0 }) else { return true }
        return tokens.keeps(channel.gate.login.identity, by: channel.gate.login.entry) && !endIfRevoked()
    }
}

extension Limits {
    /// What an end takes of the other's requests, and keeps of the answers.
    fileprivate var answering: AnswererHalf.Limits {
        var limits = AnswererHalf.Limits()
        (limits.requests, limits.requestBytes) = (maximumRequestsInFlight, maximumBytesInFlight)
        (limits.keptReplies, limits.keptReplyBytes) = (maximumKeptReplies, maximumKeptReplyBytes)
        limits.frameSize = maximumFrameSize
        return limits
    }
}
