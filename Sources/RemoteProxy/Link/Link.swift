// The session between two ends, which outlives its connections. It keeps the requests that run here for the other end, the
// answers which that end has not acknowledged, and how far each end has come. Calls to the other end go through its requester.
// Channels serve it one after another. It ends when either end says so, or when the other end has not come back in time.

package import RPCSockets
package import RPCWire
import Synchronization

/// What the links of a client share, or the links on one loop of a server.
package struct LinkContext: Sendable {
    package let runner: RequestRunner
    package let exports: Exports
    package let settings: Shared<LinkSettings>
    /// Where clients find their sessions again; nil at an end that dials.
    package let sessions: SessionTable?
    let log: @Sendable (LogRecord) -> Void

    package init(
        runner: RequestRunner, exports: Exports, settings: Shared<LinkSettings> = Shared(LinkSettings()),
        sessions: SessionTable? = nil, log: @escaping @Sendable (LogRecord) -> Void = { _ in }
    ) {
        (self.runner, self.exports, self.settings, self.sessions) = (runner, exports, settings, sessions)
        self.log = log
    }
}

/// The driver of one session. `Requester` drives the calling half and may outlive the link; this class drives the answering
/// half. A fresh link greets on each new channel. When the greeting says that a known session goes on, the channel moves to the
/// link that has that session.
///
/// `@unchecked Sendable`: `shared` is a lock; all other variable state is touched on the loop's thread only.
package final class Link: @unchecked Sendable {
    private struct Shared {
        var id: String
        var address = ""
        /// The identity that the other end has proved. Set before any call of that end runs.
        var identity: Identity?
        /// The line of the token list whose token let the caller in; nil if no token did.
        var entry: TokenList.Entry?
        /// Nil until it is asked for.
        var watch: SessionWatch?
        /// Nil until it is asked for.
        var objects: SessionObjects?
        /// Whether the other end lists the objects that its messages name.
        var listsObjects = false
    }

    let context: LinkContext
    /// Where calls to the other end go. At the end that listens, it closes with the link.
    package let requester: Requester
    /// The loop of the context's runner. Kept here too, because reaching it through other objects would retain each of them.
    let loop: any Loop
    private let shared: Lock<Shared>

    // On the loop. Checks of exclusive access would cost a tenth of a call, so they are off. That is safe: a single thread can
    // overlap two accesses only if it calls itself, and no code here calls out before it has finished a change. Debug builds check where
    // the link is entered that it is on the loop.
    /// The connection that serves the link now.
    @exclusivity(unchecked) var connection: Connection?
    /// Replies that have come over it and are not handed on yet.
    @exclusivity(unchecked) var replies: [CallReply] = []
    @exclusivity(unchecked) package internal(set) var half: AnswererHalf
    @exclusivity(unchecked) var admission: Admission
    @exclusivity(unchecked) var methods = MethodCache()
    @exclusivity(unchecked) var posts = PostLines()
    /// Messages of the connection whose turn has not come.
    @exclusivity(unchecked) var waiting = WaitingMessages()
    /// Gets the transfers of the other end as they come, before requests that wait.
    package var onTransfer: (@Sendable (Request) -> Void)?
    /// Due at the next deadline of a request.
    @exclusivity(unchecked) var deadlineTimer: (any LoopTimer)?
    private var graceTimer: (any LoopTimer)?

    /// - Parameter requester: the requester of a client, which its links use one after another; nil makes one for this link
    ///   alone.
    package init(_ context: LinkContext, _ requester: Requester? = nil) {
        self.context = context
        self.requester = requester ?? Requester(context)
        loop = context.runner.loop
        shared = Lock(Shared(id: Self.makeID()))
        let limits = context.settings.value.limits
        half = AnswererHalf(
            IncomingCalls(limit: limits.maximumRequestsInFlight, byteLimit: limits.maximumBytesInFlight),
            keptReplies: limits.maximumKeptReplies, keptReplyBytes: limits.maximumKeptReplyBytes,
            frameSize: limits.maximumFrameSize)
        admission = Admission(context)
    }
}

extension Link {
    var runner: RequestRunner { context.runner }
    var exports: Exports { context.exports }
    var settings: LinkSettings { context.settings.value }
    /// Whether the other end dialled.
    @inline(__always)
    var isAccepted: Bool { context.sessions != nil }

    /// Debug builds trap if the calling code is not on the loop.
    @inline(__always)
    func checkLoop() {
        #if DEBUG
            loop.checkIsCurrent()
        #endif
    }

    /// Names the session. The listening end makes it and tells the other end. An end that knows it can take the session over,
    /// so it must not be guessable.
    package var id: String { shared.withLock { $0.id } }
    /// The present address of the other end.
    var address: String { shared.withLock { $0.address } }

    package var identity: Identity? {
        get { shared.withLock { $0.identity } }
        set { shared.withLock { $0.identity = newValue } }
    }

    var entry: TokenList.Entry? {
        get { shared.withLock { $0.entry } }
        set { shared.withLock { $0.entry = newValue } }
    }

    func setAddress(_ address: String) { shared.withLock { $0.address = address } }

    static let lengthOfID = 32

    private static func makeID() -> String {
        var random = SystemRandomNumberGenerator()
        let halves: (UInt64, UInt64) = (random.next(), random.next())
        // Written in place: a text that is put together keeps room for more, for as long as the session lives.
        return String(unsafeUninitializedCapacity: lengthOfID) { text in
            for index in 0..<lengthOfID {
                let half = index < 16 ? halves.0 : halves.1
                let digit = UInt8(truncatingIfNeeded: half >> UInt64(index % 16 * 4)) & 0xF
                text.initializeElement(
                    at: index, to: digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
            return lengthOfID
        }
    }

    /// Logs an event that concerns the other end.
    func log(_ record: LogRecord) {
        var record = record
        (record.peer, record.session) = shared.withLock { shared in
            (shared.address.isEmpty ? nil : shared.address, String(shared.id.prefix(8)))
        }
        context.log(record)
    }

    /// Counts that a peer has run into a limit, such as one for the size of a message. Counts nothing for nil.
    func overran(_ limit: Limit?) {
        if let limit { settings.traffic?.overran(limit) }
    }
}

// MARK: objects by reference

extension Link {
    /// The objects that the ends of the session have of each other. Callable from any thread.
    var objects: SessionObjects {
        shared.withLock { shared in
            if let known = shared.objects { return known }
            // Ends with the link, so the link is kept until then.
            let objects = SessionObjects(
                most: settings.limits.maximumReferences, isListed: shared.listsObjects
            ) { [self] in
                requester.owesObjects.store(true, ordering: .relaxed)
                loop.submit { self.giveBackSoon() }
            }
            shared.objects = objects
            return objects
        }
    }

    /// Counts the bytes that are kept for the other end's objects and for those that it has, while it is away.
    func reportObjects(isConnected: Bool) {
        guard let objects = shared.withLock({ $0.objects }) else { return }
        let change = objects.bytesChange(isConnected: isConnected)
        if change != 0 { requester.account.owes(change) }
    }

    /// How many objects the two ends have of each other. Fast.
    package var objectCounts: (given: Int, taken: Int) {
        guard let objects = shared.withLock({ $0.objects }) else { return (0, 0) }
        return (objects.givenCount, objects.takenCount)
    }

    /// The same, those of this end by service. Nothing is made for a session without objects.
    package var referenceCounts: ReferenceCounts { shared.withLock { $0.objects }?.referenceCounts ?? .none }

    /// The other end has said that it lists the objects that its messages name.
    func listsObjects() {
        half.listsObjects = true
        shared.withLock { shared in
            shared.listsObjects = true
            shared.objects?.lists()
        }
    }

    /// The other end has so many answers. Nothing is made for a session without objects.
    func arrived(replies: Int64, lacksOthers: Bool) {
        shared.withLock { $0.objects }?.arrived(replies: replies, lacksOthers: lacksOthers)
    }

    /// How long objects that are not needed any more wait for a call with which they can be given back.
    private static let longestKept = Duration.milliseconds(50)

    /// Has objects given back soon, even if no call is made. On the loop.
    private func giveBackSoon() {
        guard !half.life.isOver, objects.waits(true) else { return }
        loop.schedule(at: loop.now.advanced(by: Self.longestKept)) { [self] in
            _ = objects.waits(false)
            if requester.owesObjects.load(ordering: .relaxed) { requester.giveBack() }
        }
    }
}

// MARK: outliving channels; on the loop

extension Link {
    /// The requester's link, if a new channel may go on with its session; nil otherwise.
    package static func resumable(by requester: Requester) -> Link? {
        requester.link.flatMap { $0.half.life.isResumable ? $0 : nil }
    }

    /// Lets the session outlive its channel, if there is room for it. Called when both ends run this library.
    /// - Parameters:
    ///   - id: the name that the listening end gave the session; nil at that end.
    ///   - grace: how long the listening end waits for the other one; nil for ever.
    func outlive(as id: String?, grace: Duration?) {
        if let id { shared.withLock { $0.id = id } }
        guard context.sessions?.add(self) ?? true else { return }
        half.life.goesOn(for: grace ?? Life.forEver)
    }

    /// Called when the connection has ended. A session that can go on waits for another one, within its grace; any other ends.
    func lost(because why: String) {
        checkLoop()
        guard half.life.lost(at: loop.now) else { return end(why) }
        // An end that listens cannot dial. Only the other end can make the next connection, so nothing is awaited soon.
        if isAccepted { requester.feed { $0.half.unreachable(because: why) } }
        reportObjects(isConnected: false)
        tellState()
        context.sessions?.left(self)
        guard case .lost(let until) = half.life.phase, until < .distantFuture, let grace = half.life.grace else {
            return
        }
        graceTimer = loop.schedule(at: until) { [self] in
            overran(.sessionGrace)
            end("the connection was not made again within \(grace) (sessionGrace): \(why)")
        }
    }

    func cancelGrace() {
        graceTimer?.cancel()
        graceTimer = nil
    }
}

// MARK: ending; on the loop, unless a comment says otherwise

extension Link {
    /// Called when the other end has said goodbye. Its calls are stopped; its posts still run, because it was told that they
    /// arrived.
    func saidGoodbye() {
        half.life.hasLeft = true
        if isAccepted { requester.ask { $0.otherEndLeft() } }
        endWithChannel()
        stopRequests()
    }

    /// Gives the way back to the session up: the link ends with its channel, or now if it has none.
    func endWithChannel() {
        half.endsWithChannel()
        context.sessions?.remove(self)
        reportKeptBytes()
        releaseHeldBack()
        if connection == nil { end("there is no way back to the session") }
    }

    /// Ends the link: stops its requests, except the posts of an end that has said goodbye, and drops what was kept for that
    /// end. Those posts have as long as a session without a connection has. Does nothing the second time.
    package func end(_ why: String) {
        checkLoop()
        guard let stops = half.close() else { return }
        context.sessions?.remove(self)
        cancelGrace()
        deadlineTimer?.cancel()
        stopWorkers(in: stops)
        // These requests find that they are stopped, and are counted off like all others.
        releaseHeldBack()
        reportKeptBytes()
        reportObjects(isConnected: true)
        admission.tellBytes(of: &half)
        if !half.life.hasLeft {
            dropPosts(because: why)
        } else if half.calls.count > 0 || requester.account.keepsPosts, let sessions = context.sessions {
            sessions.finishes(self)
            let (limit, grace) = sessions.graceOfPosts
            graceTimer = loop.schedule(at: loop.now.advanced(by: grace)) { [self] in
                stopPosts(because: "they had not run \(grace) after their sender had left (\(limit))")
            }
        }
        methods.forgetObjects()
        let objects = shared.withLock { shared in
            defer { shared.objects = shared.objects ?? .ended }
            return shared.objects
        }
        // Last: the objects that go away are a program's.
        defer { objects?.end() }
        if isAccepted { requester.close(.gone(why)) } else { requester.linkEnded(self, why) }
        watch.end()
    }

    /// Called when the last request of a link that is over has run.
    func allRequestsHaveRun() {
        // Otherwise the grace time goes on for the posts that wait in proxies.
        if !requester.account.keepsPosts { finished() }
    }

    private func finished() {
        cancelGrace()
        context.sessions?.finished(self)
    }

    /// Stops the posts of a link that is over.
    func stopPosts(because why: String) {
        half.life.hasLeft = false
        stopRequests()
        dropPosts(because: why)
        finished()
    }

    /// Drops the posts that wait for others, here and in the proxies that keep some.
    private func dropPosts(because why: String) {
        requester.account.dropKept()
        let count = dropBehindPosts()
        if count > 0 { log(LogRecord(.warning, "\(LostPosts.text(count)) received and not run: \(why)")) }
    }

    /// Ends the session and its connection, because the other end says that it has more than this one has sent. That end counts
    /// wrong, or a byte has changed on the way. Which calls it would still run and answer cannot be known.
    func endMiscounted() { endBroken("says that it has more of the session than it was sent") }

    /// Ends the session and its connection, because this end cannot know any more which messages the other end has.
    /// - Parameter fault: what that end has done.
    func endBroken(_ fault: String) {
        let why = "\(address) \(fault)"
        settings.traffic?.count { $0.strays += 1 }
        log(LogRecord(.error, "closed the connection: \(why)"))
        endAtOnce(because: why)
    }

    /// Ends the session with its connection, because of all sessions it owes most of what the server may keep.
    func endAsDebtor() {
        let debt = requester.account.bytes
        guard debt > SessionAccount.share else { return }
        let why =
            "the server keeps \(debt) bytes for it, more than for others, and for all together as many as it may "
            + "(maximumBytesInAll)"
        overran(.maximumBytesInAll)
        log(LogRecord(.warning, "ended the session of \(address): \(why)"))
        if half.life.isOver { return stopPosts(because: why) }
        endAtOnce(because: why)
    }

    /// Ends the session and the channel that serves it, with all posts of the other end.
    func endAtOnce(because why: String) {
        half.life.hasLeft = false
        let channel = connection?.channel
        channel?.stopReading(because: why)
        end(why)
        channel?.abort()
    }

    /// Counts that the other end has answered or given back what it never got from here. Logs the first for each session.
    /// - Parameter what: what was ignored.
    func countStray(_ what: @autoclosure () -> String) {
        settings.traffic?.count { $0.strays += 1 }
        guard !admission.hasToldOfStray else { return }
        admission.hasToldOfStray = true
        log(LogRecord(.warning, "ignored \(what()). Logged once for each session"))
    }

    func countStrayRelease() { countStray("that an object was given back that the other end has not") }

    /// What is asked for about the session. Callable from any thread.
    var watch: SessionWatch {
        shared.withLock { shared in
            let watch = shared.watch ?? SessionWatch()
            shared.watch = watch
            return watch
        }
    }

    /// The present state of the session and every later one. Callable from any thread.
    var states: AsyncStream<Caller.State> {
        // Subscribed first: a state reaches only readers that are there already.
        let states = watch.states.subscribe()
        loop.submit { [self] in watch.tell(state, isNews: false) }
        return states
    }

    func tellState() { shared.withLock { $0.watch }?.tell(state, isNews: true) }

    private var state: Caller.State {
        guard case .lost(let until) = half.life.phase, let grace = half.life.grace else {
            return .connected(resumed: half.life.hasResumed)
        }
        return .lost(since: .now - (grace - loop.now.duration(to: until)))
    }
}

// MARK: replacing the list of tokens; on the loop
//
// The list is replaced first. Then every channel and link is judged on its own loop. A channel that the server does not know
// yet is not missed: it opens, and logs in, under the new list. A channel that goes on with another link changes its loop, and
// might be missed there. So it is judged once more when the server knows it in its new place.

extension Link {
    /// Ends the link and the channel that serves it if the present list would not let its caller in. Leaves a caller alone that
    /// has not logged in yet.
    /// - Returns: whether the link was revoked.
    @discardableResult
    func endIfRevoked() -> Bool {
        guard isAccepted, let tokens = settings.tokens.withLock({ $0 }) else { return false }
        guard connection?.channel.login.isLocked != true, !tokens.keeps(identity, by: entry) else { return false }
        let name = identity.map { "'\($0.name)'" } ?? "a caller without a token"
        let why = "the list of tokens has changed and does not let in \(name) as before"
        if connection != nil { log(LogRecord(.notice, "closed \(address): \(why)")) }
        endAtOnce(because: why)
        return true
    }

    /// Whether the channel may take the link over: neither its own login nor that of the link was revoked. Ends the link if the
    /// login of the link was.
    func mayBeTakenOver(by channel: any MessageChannel) -> Bool {
        guard let tokens = settings.tokens.withLock({ $0 }) else { return true }
        let login = channel.login
        return tokens.keeps(login.identity, by: login.entry) && !endIfRevoked()
    }
}
