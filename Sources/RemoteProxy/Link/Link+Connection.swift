// The connections that serve a link, one after another: how one begins to serve it, how it is replaced, and how it ends. On the loop.

import RPCWire
import Synchronization

extension Link {
    package typealias Owner = @Sendable (any MessageChannel, ChannelEvent) -> Void

    /// What a link knows of one connection.
    struct Connection {
        let channel: any MessageChannel
        /// Tells it from the others that serve the same requester.
        let number: Int
        let owner: Owner
        /// The version of `Hello.protocol` that the other end speaks; 0 if it does not run this library.
        var version = 0
        /// How many calls have been answered.
        var answers = 0
        var pause = Pause.none
        /// Whether reading has paused for one turn since a request could not begin.
        var hasPaused = false
        /// Whether the log has been told that reading pauses.
        var hasToldOfPause = false
        /// Whether the loop is about to check if the waiting requests may begin.
        var isBeginning = false
        /// Whether all has been read that has come.
        var isAllRead = true
        /// Whether the other end has closed its sending side and the grace time of its last calls has yet to start.
        var hasEnded = false
        /// Whether another report follows the waiting requests. The other end asked for one while they waited, so it did not
        /// count them.
        var owesReport = false
        /// Whether a report of what has come is due within a second.
        var isReportDue = false
        /// How many queued bytes wait for the other end, since it does not read as fast as this one writes.
        var output = 0
        /// What the account has been told of the memory that the connection takes.
        var reported = ReportedBytes()

        init(_ channel: any MessageChannel, number: Int, owner: @escaping Owner) {
            (self.channel, self.number, self.owner) = (channel, number, owner)
        }
    }

    /// The channel that serves the link now. Nil when the session is over, although its connection may have to end yet.
    @inline(__always)
    var channel: (any MessageChannel)? { half.life.isOver ? nil : connection?.channel }

    /// Whether the other end runs this library. Only then may this end send members and messages that other programs do not
    /// know.
    @inline(__always)
    var peerRunsLibrary: Bool { connection?.version ?? 0 > 0 }

    /// Whether the other end lists the objects that its messages name.
    var peerListsObjects: Bool { half.listsObjects }

    /// Whether this end says hello, and so expects an answer to it.
    var saysHello: Bool { !isAccepted && settings.saysHello }

    /// Whether this end has dialled, and does not know yet what it has reached.
    @inline(__always)
    var isGreetingServer: Bool { half.life.isGreeting && !isAccepted }

    /// Whether requests of the other end run, or calls to it wait.
    var isInUse: Bool { half.calls.count > 0 || requester.pendingCalls > 0 }

    private func tellOwner(_ event: ChannelEvent) { if let connection { connection.owner(connection.channel, event) } }

    // MARK: beginning

    /// Opens a channel that serves a fresh link. One that says hello is ready when its hello has been answered, any other at once.
    /// - Parameters:
    ///   - number: tells the channel from the others that serve the same requester.
    ///   - owner: is told what becomes of the channel.
    package func open(_ channel: any MessageChannel, number: Int, owner: @escaping Owner = { _, _ in }) {
        checkLoop()
        serve(over: Connection(channel, number: number, owner: owner))
        channel.open()
        if saysHello { return sayHello() }
        isReady(.anew)
        // The list of tokens may have been replaced since the channel was made, or the server may have begun to stop.
        endIfRevoked()
        finishIfAnswered()
    }

    /// Makes this connection the one that serves the link.
    private func serve(over new: Connection) {
        replaceConnection()
        connection = new
        // Other threads may read the link of a channel that has it already.
        if new.channel.link !== self { new.channel.link = self }
        // If the former channel was lost after this one claimed the session, it has marked the session as unclaimed.
        context.sessions?.claimed(self)
        half.limitFrames(to: requester.ask { $0.frameLimit })
        setAddress(new.channel.remoteAddress)
        cancelGrace()
    }

    /// Ends the connection because another one serves the link from now on. Messages that still arrive there are too late.
    private func replaceConnection() {
        guard let old = connection else { return }
        let why = "another connection has taken its place"
        old.channel.stopReading(because: why)
        dropWaiting()
        handOnReplies()
        connection = nil
        requester.ended(old.channel, old.number, sent: .max, why: why, sessionGoesOn: true)
        old.channel.abort()
        old.owner(old.channel, .ended(why: why, wasOfUse: old.answers > 0))
    }

    /// Calls may go over the connection from now on.
    func isReady(_ beginning: CallerHalf.Beginning) {
        guard let connection else { return }
        // What the other end lacks has given it no objects.
        methods.forgetObjects()
        requester.attach(Route(connection.channel, connection.number, connection.version), of: self, beginning)
        var isResumed = false
        if case .resumed = beginning { isResumed = true }
        tellOwner(.ready(isResumed: isResumed))
        if requester.owesObjects.load(ordering: .relaxed) { requester.giveBack() }
    }

    /// Takes the connection over from a fresh link, and sends again what the other end lacks by its progress.
    /// - Parameters:
    ///   - grace: how long the session waits when this connection is lost; nil for ever.
    ///   - greet: answers the other end, before anything else is sent.
    func resume(over new: Connection, from progress: Progress, grace: Duration?, _ greet: () -> Void) {
        serve(over: new)
        guard canHave(progress) else { return endMiscounted() }
        half.life.goesOn(for: grace ?? Life.forEver)
        reportObjects(isConnected: true)
        greet()
        arrived(replies: progress.replies, lacksOthers: true)
        acknowledged(progress)
        for message in half.resumed(replies: progress.replies, transfers: progress.transfers ?? 0) {
            message.withUnsafeBytes { _ = new.channel.append(.copied($0)) }
        }
        isReady(.resumed(received: progress.requests))
        tellState()
    }

    /// Gives the connection up, to another link at this end.
    func takeConnection() -> Connection? {
        guard let old = connection else { return nil }
        dropWaiting()
        connection = nil
        var new = Connection(old.channel, number: old.number, owner: old.owner)
        (new.version, new.answers) = (old.version, old.answers)
        return new
    }

    /// The connection goes to another link. Returns its new channel, which is to be opened on that link's loop. Nil if it cannot go
    /// there now: then it ends.
    func moveConnection(to other: Link) -> Connection? {
        guard let old = connection, !old.channel.isOver else { return nil }
        guard let successor = old.channel.moved(to: other) else {
            old.channel.stopReading(because: "cannot go on with its session now")
            old.channel.abort()
            return nil
        }
        tellOwner(.replaced(by: successor))
        dropWaiting()
        connection = nil
        return Connection(successor, number: old.number, owner: old.owner)
    }

    /// Called when the other end was heard after a ping.
    func pingIsAnswered(over channel: any MessageChannel) {
        if connection?.channel === channel { tellOwner(.answered) }
    }

    /// Gives memory back that is not in use, and forgets the methods that were called lately.
    func releaseRoom() {
        half.releaseRoom()
        requester.ask { $0.releaseRoom() }
        methods = MethodCache()
        if replies.isEmpty { replies = [] }
    }

    // MARK: ending

    /// Called when the other end is going away: new calls wait for the next channel, and the link ends with this one.
    func retire(because why: String) {
        guard let channel, requester.retire(channel, why: why) else { return }
        endWithChannel()
        // Without this report the other end could not tell which of its posts have arrived.
        if peerRunsLibrary {
            report(flush: false)
            connection?.owesReport = hasWaiting
        }
        // Callers may have queued messages here and promised a flush, but that flush will go to a later channel.
        channel.flush()
        tellOwner(.retired(why: why, wasOfUse: connection?.answers ?? 0 > 0))
    }

    /// Closes the connection and keeps the session for the next one. What is queued still leaves. What the other end sends from
    /// now on, it sends again over the next connection.
    func leaveConnection(because why: String) {
        guard let channel, !channel.isOver else { return }
        requester.leave(channel, why: why)
        if peerRunsLibrary { report(flush: false) }
        channel.stopReading(because: why)
        channel.close()
    }

    /// Leaves a server whose first bytes are no message, since it speaks another protocol. The next attempt would get the same
    /// bytes, so the calls that wait for a connection end.
    /// - Parameter what: the first bytes, and what is wrong with them.
    func refuseForeigner(_ what: String) {
        guard let channel else { return }
        refuseServer(
            because: "\(channel.remoteAddress) does not answer as a server of this kind does: it began with \(what)")
    }

    /// Leaves a server that this end cannot speak with, also at the next attempt.
    func refuseServer(because why: String) {
        guard let channel else { return }
        endWithChannel()
        channel.stopReading(because: why)
        requester.feed { $0.half.unreachable(because: why, isLasting: true) }
        tellOwner(.rejected(.unavailable, why: why))
        channel.abort()
    }

    /// Called when the answer to this end's hello says that this end is not let in.
    func turnBack() {
        guard let channel, !channel.isOver, half.life.greeted() else { return }
        let why =
            settings.token == nil
            ? "\(channel.remoteAddress) admits no caller without a token: set \(Self.tokenOption)"
            : "\(channel.remoteAddress) does not know the token in \(Self.tokenOption)"
        channel.stopReading(because: why)
        turnedBack(because: why)
        channel.abort()
    }

    /// Tells the callers that this end is not let in. The next attempt would end in the same way, and they can do something
    /// about it.
    func turnedBack(because why: String) {
        requester.feed { $0.half.turnedAway(because: why) }
        tellOwner(.rejected(.unauthenticated, why: why))
    }

    private static let tokenOption = "RPCClient.Configuration.token"

    /// Begins no new call from now on. The channel ends when all calls that run have been answered.
    func drain() {
        half.calls.drain()
        if peerRunsLibrary { notify(SystemMethod.drain) } else { finishIfAnswered() }
    }

    /// Ends the channel when nothing runs for it. Called when this end awaits nothing from it any more.
    func finishWhenIdle() {
        beginClosing()
        finishIfAnswered()
    }

    /// Notes that the other end sends no more, or takes no more calls.
    private func beginClosing() {
        if connection?.channel.isOver == false { half.life.closes() }
    }

    /// Ends the channel if no answer is owed over it any more. If the session goes on, running requests are answered over the
    /// next channel. Asked after every answer, so the rarest condition comes first.
    @inline(__always)
    func finishIfAnswered() {
        if half.life.isClosing || half.calls.isDrained { finish() }
    }

    @inline(never)
    private func finish() {
        guard let connection, !hasWaiting, isEnding || !peerRunsLibrary && half.calls.isDrained else {
            return
        }
        let channel = connection.channel
        // In the next turn, so that the last answer is in the queue by then.
        loop.submit { [self] in
            // Without a goodbye the other end would stop the posts that it has not run yet.
            if !isAccepted, !channel.isOver, half.life.isClosing, self.channel === channel, peerRunsLibrary {
                notify(SystemMethod.goodbye)
            }
            channel.close()
        }
    }

    private var isEnding: Bool {
        half.life.isClosing && connection?.isAllRead == true && connection?.channel.isOver == false
            && (half.life.isResumable || half.calls.count == 0)
    }

    /// Called when a request has run.
    @inline(__always)
    func answered() {
        retryWaitingRequests()
        finishIfAnswered()
    }

    /// Called when all requests that came have begun. If the other end has closed its sending side, its last calls get
    /// `halfCloseGrace` from now.
    func allHaveBegun() {
        finishIfAnswered()
        guard let channel = connection?.channel, connection?.hasEnded == true, !hasWaiting, !channel.isOver else {
            return
        }
        connection?.hasEnded = false
        loop.schedule(at: loop.now.advanced(by: settings.limits.halfCloseGrace)) { [self] in
            guard !half.life.isResumable, self.channel === channel else { return channel.close() }
            if half.calls.count > 0 { overran(.halfCloseGrace) }
            stopRequests()
            // What stops is answered, and then the channel ends. Not at once if an object goes on.
            finishIfAnswered()
            let end = loop.now.advanced(by: settings.limits.halfCloseGrace)
            loop.schedule(at: end) { channel.close() }
        }
    }

    /// The other end has closed its sending side. Returns whether the channel stays open for what is still to be done:
    /// - A peer whose session goes on may come back for its answers, so only what it has sent is still read.
    /// - Another peer may have ended only its questions, as `nc -N` does. It gets the answers that come soon.
    /// - A peer that has left in good order has its posts delivered.
    /// - A server that sends no more still has its earlier requests done; new calls wait for the next connection.
    func peerFinished() -> Bool {
        guard let connection else { return false }
        let isResumable = half.life.isResumable
        let isUnread = !connection.isAllRead || hasWaiting
        guard isUnread && isAccepted || !isResumable && (isUnread || half.calls.count > 0) else { return false }
        if !isAccepted { retire(because: "closed by \(connection.channel.remoteAddress)") }
        beginClosing()
        self.connection?.hasEnded = true
        allHaveBegun()
        return true
    }

    /// Called when a channel has ended. A session that can go on waits for another channel, within its grace; any other ends.
    /// - Parameters:
    ///   - sent: a message that begins there or later was certainly not sent.
    ///   - isSilent: whether the other end had stopped answering or reading.
    func ended(_ channel: any MessageChannel, sentUpTo sent: UInt64, because why: String, isSilent: Bool) {
        checkLoop()
        // Another channel may serve the link by now.
        guard let old = connection, old.channel === channel else { return }
        dropWaiting()
        connection = nil
        requester.ended(channel, old.number, sent: sent, why: why, sessionGoesOn: half.life.isResumable)
        lost(because: why)
        // The next attempt may take as long to find that out, so callers are told now.
        if isSilent { requester.feed { $0.half.unreachable(because: why) } }
        old.owner(channel, .ended(why: why, wasOfUse: old.answers > 0))
    }

    // MARK: what is queued

    func notify(_ method: String) {
        guard let channel else { return }
        channel.append { MessageWriter.writeNotification(method, in: $0) }
        channel.flush()
    }

    /// Less waits in the channel than before, or has begun to wait.
    func outputChanged(of channel: any MessageChannel) {
        checkLoop()
        guard connection?.channel === channel else { return }
        countOutput()
        if channel.isOver || channel.isCrowded { return }
        requester.outputChanged()
        retryWaitingRequests()
    }

    /// Counts an answer that may have to wait for the other end.
    @inline(__always)
    func countAnswer(over channel: any MessageChannel) {
        if connection?.output ?? 0 > 0 || channel.isCrowded { countOutput() }
    }

    @inline(never)
    private func countOutput() {
        connection?.output = connection?.channel.waiting ?? 0
        tellBytes()
    }

    /// Tells the account what the connection keeps: requests that wait, and output that waits.
    func tellBytes() {
        guard let channel = connection?.channel else { return }
        // What is queued stays until the channel has ended.
        let kept = (channel.isOver ? 0 : waiting.bytes) + (connection?.output ?? 0)
        if let change = connection?.reported.change(to: kept) { requester.account.owes(change) }
    }
}
