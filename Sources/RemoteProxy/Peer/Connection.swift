// One stream under a session: bytes in, frames, messages; replies go to the calling side, requests to the answering
// side. Ends with the stream.

import JSONCodec
package import RPCWire

/// `@unchecked Sendable`: all that is variable is touched on the loop's thread only, by what arrives there and by the
/// workers, which run there; what other threads see is immutable, or atomic inside.
package final class Connection: @unchecked Sendable {
    /// Which end of the connection this is, and what that end does first.
    package enum Role: Sendable {
        /// This end dialled, and says hello before anything else if its settings say so.
        case dialled(Framing)
        /// This end was dialled and is told the framing by the first byte. The other may ask for one of these sessions.
        case accepted(SessionTable)
    }

    /// What the owner of the connection is told, on the loop.
    package struct Events: Sendable {
        /// Calls may go over the connection.
        package var ready: @Sendable (Connection) -> Void = { _ in }
        /// The stream belongs to this other connection from now on, which tells the same owner.
        package var replaced: @Sendable (_ by: Connection) -> Void = { _ in }
        /// The other end takes no new calls; answers to those it has will still come.
        package var leaving: @Sendable (Connection, _ why: String) -> Void = { _, _ in }
        /// The connection is gone. Once, and last.
        package var ended: @Sendable (Connection, _ why: String) -> Void = { _, _ in }

        package init() {}
    }

    /// Whether frames that have come are read now.
    enum Reading {
        case now
        /// In the loop's next turn.
        case later
        /// When fewer requests wait.
        case paused
    }

    package let stream: any ByteChannel
    /// What sends over the stream.
    let channel: MessageChannel
    let role: Role
    let events: Events

    // On the loop. Unchecked for the same reason as in `Session`.
    /// Its own, until the two ends have found that they have one that goes on.
    @exclusivity(unchecked) var session: Session
    @exclusivity(unchecked) var phase = ConnectionPhase()
    @exclusivity(unchecked) var reading = Reading.now
    @exclusivity(unchecked) var frames: FrameReader
    /// Requests that may not begin yet.
    @exclusivity(unchecked) var waiting = WaitingFrames()
    /// The loop is about to look whether they may.
    @exclusivity(unchecked) var isBeginning = false
    /// Reading has paused for one turn since a request could not begin.
    @exclusivity(unchecked) var hasPaused = false
    var hasToldOfPause = false
    /// The other end asked for a report while requests waited, which were not counted in it: it gets another one behind them.
    var owesReport = false
    /// The other end says no more, and waits for what it has asked for.
    var hasPeerFinished = false
    /// Replies that have been read and not handed on yet.
    @exclusivity(unchecked) var replies: [CallReply] = []
    let messages: MessageDecoder
    /// What the connection is watched for.
    @exclusivity(unchecked) var gate: Gate
    /// Bytes of a peer that is not in yet which have not been looked at.
    @exclusivity(unchecked) var lockedInput = 0
    /// Something has come besides the greeting.
    @exclusivity(unchecked) package private(set) var wasOfUse = false
    /// How many answers have come, without that to the hello.
    private var answers = 0
    /// The last connection to this server ended with its first answer: the call after it goes over another.
    private let isForOneAnswer: Bool

    var peer: Requester { session.peer }

    /// - Parameter number: tells this connection from the others that serve the same peer.
    package init(_ stream: any ByteChannel, number: Int, peer: Requester, role: Role, events: Events) {
        self.stream = stream
        self.role = role
        self.events = events
        let settings = peer.settings
        let framing: Framing?
        switch role {
        case .dialled(let chosen):
            framing = chosen
            session = Session(peer, in: nil)
        case .accepted(let table):
            framing = nil
            session = Session(peer, in: table)
        }
        frames = FrameReader(limits: settings.limits.frames, framing: framing)
        messages = MessageDecoder(
            maximumDepth: settings.limits.maximumDepth, maximumBatch: settings.limits.maximumBatch)
        channel = MessageChannel(stream, number: number, framing: framing)
        isForOneAnswer = framing != nil && peer.answersOnce
        gate = Gate(peer.sharedSettings, isAccepted: framing == nil, user: stream.peerUser, at: stream.loop.now)
    }

    /// Goes on where another connection has read a hello that asks for a session which lives elsewhere.
    init(_ stream: any ByteChannel, after former: Connection, for session: Session) {
        self.stream = stream
        self.session = session
        role = former.role
        events = former.events
        frames = former.frames
        messages = former.messages
        gate = former.gate
        channel = MessageChannel(stream, number: former.channel.number, framing: former.channel.framing)
        isForOneAnswer = false
    }

    /// Opens the stream. A connection that says hello is ready when that has been answered, any other at once.
    package func open() {
        session.served(by: self)
        openGate()
        stream.open(self)
        switch role {
        case .dialled where saysHello: sayHello()
        case .dialled, .accepted:
            peer.attach(channel, of: session, .anew)
            events.ready(self)
            // The list of tokens may have been replaced since the gate was made.
            session.endIfRevoked()
        }
    }

    var isOurKind: Bool { channel.isOurKind }

    /// Whether this end says hello, and takes the answer to it for one.
    var saysHello: Bool { if case .dialled = role { peer.settings.saysHello } else { false } }

    /// Something has come that was worth the connection.
    func noteUse() {
        wasOfUse = true
        answers &+= 1
    }

    /// Answers are about to be handed to their callers, whose next calls are not to be sent to a server that is closing.
    func leaveIfAnswered() {
        if isForOneAnswer { leave(because: "the server closes after each answer") }
    }

    /// A server that knows no hello and closes after its first answer is taken to do so always, until it answers more.
    private func noteManners(_ end: ChannelEnd) {
        guard case .dialled = role, !saysHello, answers > 0 else { return }
        if answers > 1 { return peer.answersOnce = false }
        if case .local = end { return }
        peer.answersOnce = true
    }
}

// MARK: what goes out

extension Connection {
    /// Sends one message. From anywhere.
    /// - Parameter isLast: the calling code does nothing more in this turn of the loop.
    func send(_ message: UnsafeRawBufferPointer, isLast: Bool) {
        channel.append(message)
        stream.flush(isLast ? .last : .more)
    }

    func send(shared message: Bytes) {
        channel.append(shared: message)
        stream.flush()
    }

    /// Puts one message of this end's own into the outgoing queue; the caller flushes.
    func append(_ write: (JSONOutput) -> Void) {
        channel.append(write)
    }
}

// MARK: what comes in

extension Connection: ByteReceiver {
    package func received(_ bytes: Bytes) {
        guard phase.step != .over else { return }
        frames.append(bytes)
        heard(bytes.count)
        if reading == .now { readFrames() }
    }

    package var wantsMore: Bool { reading == .now }

    package func pausedReading() { session.overran(.pauseReading) }

    /// A peer whose session goes on may come back for its answers, but what it has said still counts. Another may have
    /// only ended its questions, as `nc -N` does: it gets the answers that come soon. One that has left in good order has
    /// its posts delivered.
    package func peerFinished() -> Bool {
        guard phase.step != .over else { return false }
        guard case .accepted = role else { return serverFinished() }
        // One of our own kind says again over the next connection what has not come whole over this one.
        if !isOurKind {
            frames.end()
            if reading == .now { readFrames() }
        }
        let isOwed = session.calls.count > 0 && !session.isResumable
        guard phase.step != .over, isOwed || reading != .now || !waiting.isEmpty else { return false }
        phase.left()
        hasPeerFinished = true
        allHaveBegun()
        return true
    }

    /// A server has said its last word to this client, and there is no way back to its session. What it asked for before is
    /// still done; new calls wait for the next connection.
    private func serverFinished() -> Bool {
        guard !session.isResumable, reading != .now || !waiting.isEmpty else { return false }
        leave(because: "closed by \(stream.remoteAddress)")
        phase.left()
        hasPeerFinished = true
        allHaveBegun()
        return true
    }

    /// When the other end says no more, its last calls get some time from when they have begun.
    func allHaveBegun() {
        finishIfAnswered()
        guard hasPeerFinished, waiting.isEmpty, phase.step != .over else { return }
        hasPeerFinished = false
        stream.loop.schedule(at: stream.loop.now.advanced(by: peer.settings.limits.halfCloseGrace)) { [self] in
            if !session.isResumable, session.connection === self {
                if session.calls.count > 0 { session.overran(.halfCloseGrace) }
                session.stopRequests()
            }
            stream.close()
        }
    }

    package func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {
        let why =
            switch end {
            case .local: gate.verdict ?? "closed at this end"
            case .remote: "closed by \(stream.remoteAddress)"
            case .failed(let text), .overrun(_, let text): text
            }
        _ = phase.closed()
        dropWaiting()
        closeGate(end)
        noteManners(end)
        session.lost(self, sent: sent, why: why)
        // The next attempt may take as long to find out.
        if gate.isSilent { peer.unreachable(because: why) }
        events.ended(self, why)
    }
}
