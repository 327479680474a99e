// One channel of messages under a link: a byte stream, its frames, and what the connection is watched for. Ends with the stream.

import JSONCodec
package import RPCWire
import Synchronization

/// Frames messages for the other end of a connection, and hands the messages that come from there to its link.
///
/// Any carrier of ordered bytes can stand below it. Any carrier of whole messages can stand in its place: it offers the same
/// verbs to the link and the requester, and calls `Link.accept` for each message that comes.
///
/// `@unchecked Sendable`: what any thread may use is immutable or atomic. All else is touched on the loop's thread only, by
/// what arrives there and by the workers, which run there.
package final class MessageChannel: @unchecked Sendable {
    /// What the owner of the channel is told, on the loop.
    package struct Events: Sendable {
        /// Calls may go over the channel.
        package var ready: @Sendable (MessageChannel) -> Void = { _ in }
        /// The connection belongs to this other channel from now on, which tells the same owner.
        package var replaced: @Sendable (_ by: MessageChannel) -> Void = { _ in }
        /// The other end takes no new calls; answers to those it has will still come.
        package var leaving: @Sendable (MessageChannel, _ why: String) -> Void = { _, _ in }
        /// The channel has ended. Once, and last.
        package var ended: @Sendable (MessageChannel, _ why: String) -> Void = { _, _ in }

        package init() {}
    }

    package let stream: any ByteChannel
    /// Tells this channel from the others that serve the same requester.
    let number: Int
    /// Whether this end dialled, and says hello before anything else if its settings say so.
    let isDialled: Bool
    let events: Events
    private let framingNumber: Atomic<UInt8>
    private let areOfOneKind = Atomic(false)

    // On the loop. Unchecked for the same reason as in `Link`.
    /// The link that it serves: a fresh one, until the two ends have found that they have one that goes on.
    @exclusivity(unchecked) package internal(set) var link: Link
    @exclusivity(unchecked) var frames: FrameReader
    @exclusivity(unchecked) var input = Input()
    let messages: MessageReader
    /// Replies that have been read and not handed on yet.
    @exclusivity(unchecked) var replies: [CallReply] = []
    /// What the connection is watched for.
    @exclusivity(unchecked) var gate: Gate
    /// When the loop will next look at the gate.
    @exclusivity(unchecked) var gateTimer: (due: Instant, timer: any LoopTimer)?
    @exclusivity(unchecked) package private(set) var use: Use

    /// - Parameters:
    ///   - number: tells this channel from the others that serve the same requester.
    ///   - framing: how this end frames what it sends, if it has dialled; otherwise the first byte that comes tells.
    ///   - closesAfterAnswer: whether the other end is taken to close after one answer: the call after it goes over another channel.
    package init(
        _ stream: any ByteChannel, number: Int, link: Link, framing: Framing?, closesAfterAnswer: Bool = false,
        events: Events
    ) {
        let settings = link.settings
        self.stream = stream
        self.number = number
        self.link = link
        self.events = events
        isDialled = framing != nil
        framingNumber = Atomic((framing ?? .lines).rawValue)
        frames = FrameReader(limits: settings.limits.frames, framing: framing)
        messages = MessageReader(
            maximumDepth: settings.limits.maximumDepth, maximumBatch: settings.limits.maximumBatch)
        use = Use(closesAfterAnswer: closesAfterAnswer)
        gate = Gate(link.context.settings, isAccepted: framing == nil, user: stream.peerUser, at: stream.loop.now)
    }

    /// Goes on where another channel has read a hello that asks for a session which lives elsewhere.
    init(_ stream: any ByteChannel, after former: MessageChannel, for link: Link) {
        self.stream = stream
        self.link = link
        (number, isDialled, events) = (former.number, former.isDialled, former.events)
        framingNumber = Atomic(former.framing.rawValue)
        (frames, messages, gate) = (former.frames, former.messages, former.gate)
        use = Use(closesAfterAnswer: false)
    }

    /// Opens the stream. A channel that says hello is ready when that has been answered, any other at once.
    package func open() {
        link.served(by: self)
        openGate()
        stream.open(self)
        if saysHello { return link.sayHello(over: self) }
        link.requester.attach(self, .anew)
        events.ready(self)
        // The list of tokens may have been replaced since the gate was made.
        link.endIfRevoked()
    }

    /// Whether this end says hello, and takes the answer to it for one.
    var saysHello: Bool { isDialled && link.settings.saysHello }

    // MARK: what has come over it

    package struct Use: Sendable {
        /// How many answers have come, without that to the hello.
        package fileprivate(set) var answers = 0
        fileprivate let closesAfterAnswer: Bool
        fileprivate var isEndedHere = false

        fileprivate init(closesAfterAnswer: Bool) { self.closesAfterAnswer = closesAfterAnswer }

        /// Whether a server that knows no hello is taken to close after each answer, until it answers more over one connection.
        /// Nil when this channel does not tell.
        package var showsThatItCloses: Bool? {
            if answers > 1 { return false }
            return answers == 1 && !isEndedHere ? true : nil
        }
    }

    /// An answer has come that is none to the hello.
    func noteAnswer() { use.answers &+= 1 }

    /// Answers are about to be handed to their callers, whose next calls are not to be sent to a server that is closing.
    func leaveIfAnswered() {
        if use.closesAfterAnswer { link.leave(because: "the server closes after each answer") }
    }
}

// MARK: what goes out; from anywhere

extension MessageChannel {
    /// How this end frames what it sends.
    var framing: Framing {
        get { Framing(rawValue: framingNumber.load(ordering: .relaxed)) ?? .lines }
        set { framingNumber.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Whether both ends are ours, so that members and messages may be sent that other programs do not know.
    var isOurKind: Bool {
        get { areOfOneKind.load(ordering: .relaxed) }
        set { areOfOneKind.store(newValue, ordering: .relaxed) }
    }

    /// Puts one message into the outgoing queue; the caller flushes. Returns the offset of its first byte in the stream.
    @discardableResult
    func append(_ message: UnsafeRawBufferPointer) -> UInt64 { write(.copied(message)) }

    /// The same for a large message, which is not copied if that can be helped.
    @discardableResult
    func append(shared message: Bytes) -> UInt64 { write(.shared(message)) }

    /// The first byte of an end that has dialled tells the framing.
    private func write(_ message: OutgoingMessage) -> UInt64 {
        stream.write { queue, offset in framing.write(message, into: &queue, isFirst: isDialled && offset == 0) }
    }

    /// The same for a message of this end's own.
    func append(_ write: (JSONOutput) -> Void) {
        let output = JSONOutput()
        write(output)
        append(output.bytes)
    }

    /// Sends one message.
    /// - Parameter isLast: the calling code does nothing more in this turn of the loop.
    func send(_ message: UnsafeRawBufferPointer, isLast: Bool) {
        append(message)
        stream.flush(isLast ? .last : .more)
    }

    /// Sends a notification of this end's own.
    func notify(_ method: String) {
        append { MessageWriter.writeNotification(method, in: $0) }
        stream.flush()
    }

    /// Says that this end does not come back, and ends the connection.
    func sayGoodbye() {
        if isOurKind { notify(SystemMethod.goodbye) }
        stream.close()
    }

    /// The same, but without waiting for a peer that does not read.
    package func cutOff() {
        if isOurKind { notify(SystemMethod.goodbye) }
        stream.abort()
    }

    /// Begins nothing new; what runs goes on. The connection ends when the last call has answered: a peer of our own
    /// kind is told, and closes its end when it has all its answers, so that a call on its way here is refused and
    /// not lost; for another peer this end closes.
    package func drain() { stream.loop.submit { [self] in link.drain(over: self) } }

    /// The list of tokens has been replaced.
    package func judgeAgain() { stream.loop.submit { [self] in link.endIfRevoked() } }

    /// Nothing is awaited from this channel any more; when nothing runs for it either, it ends.
    func finishWhenIdle() {
        stream.loop.submit { [self] in
            drains()
            finishIfAnswered()
        }
    }
}

// MARK: how it ends; on the loop

extension MessageChannel {
    /// The channel is of no use any more: nothing that comes is read. What is in the outgoing queue still leaves, unless the
    /// stream is aborted.
    /// - Parameter why: told to the owner when this end ends the stream.
    /// - Returns: false when it was closed before.
    @discardableResult
    func close(because why: String = "closed at this end") -> Bool {
        guard !isClosed else { return false }
        input.reading = .over(why)
        return true
    }

    @inline(__always)
    var isClosed: Bool { if case .over = input.reading { true } else { false } }

    /// The other end says no more, or takes no more calls.
    private func drains() {
        if !isClosed { link.half.life.drains() }
    }

    /// A request of the link has run.
    @inline(__always)
    func answered() {
        gate.requestEnded()
        unstall()
        finishIfAnswered()
    }

    /// Ends the channel when all that is owed over it has been said. What runs for a session that goes on is answered
    /// over the next one.
    func finishIfAnswered() {
        guard input.waiting.isEmpty, isEnding || !isOurKind && link.half.calls.isDrained else { return }
        // After this turn, so that the last answer is in the queue before the connection finishes.
        stream.loop.submit { [self] in
            // Without a goodbye the other end would stop the posts that it has not run yet.
            if isDialled, !isClosed, link.half.life.isDraining { sayGoodbye() } else { stream.close() }
        }
    }

    /// Asked after every answer, so what is seldom true comes first.
    private var isEnding: Bool {
        link.half.life.isDraining && input.isReading
            && (link.half.life.isResumable || link.half.calls.count == 0)
    }

    /// Another channel serves the link now. Messages that still arrive over this one are too late.
    func replaced() {
        guard close() else { return }
        link.requester.ended(self, sent: .max, why: "another connection has taken its place", sessionGoesOn: true)
        stream.abort()
    }

    /// When the other end says no more, its last calls get some time from when they have begun.
    func allHaveBegun() {
        finishIfAnswered()
        guard input.hasEnded, input.waiting.isEmpty, !isClosed else { return }
        input.hasEnded = false
        stream.loop.schedule(at: stream.loop.now.advanced(by: link.settings.limits.halfCloseGrace)) { [self] in
            if !link.half.life.isResumable, link.channel === self {
                if link.half.calls.count > 0 { link.overran(.halfCloseGrace) }
                link.stopRequests()
            }
            stream.close()
        }
    }
}

extension MessageChannel: ByteReceiver {
    package func received(_ bytes: Bytes) {
        guard !isClosed else { return }
        frames.append(bytes)
        heard(bytes.count)
        if input.isReading { readFrames() }
    }

    package var wantsMore: Bool { input.isReading }

    package func pausedReading() { link.overran(.pauseReading) }

    /// A peer whose session goes on may come back for its answers, but what it has said still counts. Another may have
    /// only ended its questions, as `nc -N` does: it gets the answers that come soon. One that has left in good order has
    /// its posts delivered. Of a server that has said its last word, what it asked for before is still done; new calls wait for
    /// the next connection.
    package func peerFinished() -> Bool {
        guard !isClosed else { return false }
        // One of our own kind says again over the next connection what has not come whole over this one.
        if !isDialled, !isOurKind {
            frames.end()
            if input.isReading { readFrames() }
        }
        let isResumable = link.half.life.isResumable
        let isUnread = !input.isReading || !input.waiting.isEmpty
        let isOwed = isDialled ? !isResumable && isUnread : isUnread || link.half.calls.count > 0 && !isResumable
        guard !isClosed, isOwed else { return false }
        if isDialled { link.leave(because: "closed by \(stream.remoteAddress)") }
        drains()
        input.hasEnded = true
        allHaveBegun()
        return true
    }

    package func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {
        close()
        use.isEndedHere = end == .local
        let why =
            switch end {
            case .local: input.whyOver
            case .remote: "closed by \(stream.remoteAddress)"
            case .failed(let text), .overrun(_, let text): text
            }
        dropWaiting()
        closeGate(end)
        link.lost(self, sent: sent, why: why)
        // The next attempt may take as long to find out.
        if gate.isSilent { link.requester.feed { $0.half.unreachable(because: why) } }
        events.ended(self, why)
    }
}
