// One channel of messages under a link: a byte stream, its framing, and the watch over the connection. It ends with its stream.

import JSONCodec
package import RPCWire
import Synchronization

/// Sends messages to the other end of one connection, and hands the messages that come from there to its link.
///
/// The byte stream may be any carrier of ordered bytes. A carrier of whole messages can replace this class: it offers the same
/// verbs to the link and the requester, and calls `Link.accept` for each message that comes.
///
/// `@unchecked Sendable`: what any thread may use is immutable or atomic. All other state is touched on the loop's thread only,
/// by what arrives there and by the workers, which run there.
package final class MessageChannel: @unchecked Sendable {
    /// What the owner of the channel is told, on the loop.
    package enum Event: Sendable {
        /// Calls may go over the channel.
        /// - Parameter isResumed: whether the session of an earlier channel goes on.
        case ready(isResumed: Bool)
        /// The other end does not let this one in, or is no server of this kind. The next attempt to connect would end in the
        /// same way. `ended` follows.
        case rejected(RPCError.Code, why: String)
        /// Another channel has the connection from now on, and tells the same owner.
        case replaced(by: MessageChannel)
        /// The other end takes no new calls; answers to earlier calls will still come.
        case leaving(why: String)
        /// The channel has ended. Told once and last, but not after `replaced`.
        case ended(why: String)
    }

    package typealias Owner = @Sendable (MessageChannel, Event) -> Void

    package let stream: any ByteChannel
    /// Tells this channel from the others that serve the same requester.
    package let number: Int
    let tellOwner: Owner
    /// Whether this end dialled. Then it says hello before anything else, if its settings say so.
    let isDialled: Bool
    private let framingNumber: Atomic<UInt8>
    private let protocolNumber = Atomic<UInt8>(0)
    /// Whether `LinkSettings.trace` gets the messages. It stands here, in the same word, because each message asks for it.
    private let isTraced: Bool

    // On the loop. Access is unchecked for the same reason as in `Link`.
    /// The link that this channel serves: a fresh one at first. If the greeting finds an earlier session, the link of that
    /// session.
    @exclusivity(unchecked) package internal(set) var link: Link
    /// How many calls have been answered.
    @exclusivity(unchecked) package private(set) var answers = 0
    @exclusivity(unchecked) var frames: FrameReader
    @exclusivity(unchecked) var input = Input()
    let messages: MessageReader
    /// Replies that have been read and not handed on yet.
    @exclusivity(unchecked) var replies: [CallReply] = []
    /// Watches the identity, the speed and the life of the connection.
    @exclusivity(unchecked) var gate: Gate
    /// When the loop will next look at the gate.
    @exclusivity(unchecked) var gateTimer: (due: Instant, timer: any LoopTimer)?

    /// - Parameters:
    ///   - number: tells this channel from the others that serve the same requester.
    ///   - framing: how this end frames its messages if it has dialled; nil if the first byte from the other end tells.
    package init(
        _ stream: any ByteChannel, number: Int, link: Link, framing: Framing?,
        owner: @escaping Owner = { _, _ in }
    ) {
        let settings = link.settings
        self.stream = stream
        self.number = number
        self.link = link
        tellOwner = owner
        isDialled = framing != nil
        isTraced = settings.trace != nil
        framingNumber = Atomic((framing ?? .lines).rawValue)
        frames = FrameReader(limits: settings.limits.frames, framing: framing)
        messages = MessageReader(
            maximumDepth: settings.limits.maximumDepth, maximumBatch: settings.limits.maximumBatch)
        gate = Gate(link.context.settings, isAccepted: framing == nil, at: stream.loop.now)
    }

    /// Goes on where another channel has read a hello that asks for a session of another link.
    init(_ stream: any ByteChannel, after former: MessageChannel, for link: Link) {
        self.stream = stream
        self.link = link
        (number, isDialled, tellOwner) = (former.number, former.isDialled, former.tellOwner)
        isTraced = former.isTraced
        framingNumber = Atomic(former.framing.rawValue)
        (frames, messages, gate) = (former.frames, former.messages, former.gate)
    }

    /// Opens the stream. A channel that says hello is ready when its hello has been answered, any other at once.
    package func open() {
        link.served(by: self)
        openGate()
        stream.open(self)
        if saysHello { return link.sayHello(over: self) }
        link.requester.attach(self, .anew)
        tellOwner(self, .ready(isResumed: false))
        // The list of tokens may have been replaced since the gate was made.
        link.endIfRevoked()
    }

    /// Counts calls that have been answered.
    func noteAnswers(_ count: Int) { answers &+= count }
}

// MARK: what goes out; from anywhere

extension MessageChannel {
    /// How this end frames what it sends.
    var framing: Framing {
        get { Framing(rawValue: framingNumber.load(ordering: .relaxed)) ?? .lines }
        set { framingNumber.store(newValue.rawValue, ordering: .relaxed) }
    }

    /// Whether the other end runs this library. Only then may this end send members and messages that other programs do not
    /// know.
    var peerRunsLibrary: Bool { peerProtocol > 0 }

    /// Whether the other end runs a version of this library that passes all metadata on.
    var peerPassesAllOn: Bool { peerProtocol == Hello.oldest }

    /// Whether the other end knows transfers, and calls inside others.
    var peerHasTransfers: Bool { peerProtocol >= Hello.withTransfers }

    /// The version of `Hello.protocol` that the other end speaks; 0 if it does not run this library.
    var peerProtocol: Int {
        get { Int(protocolNumber.load(ordering: .relaxed)) }
        set { protocolNumber.store(UInt8(clamping: newValue), ordering: .relaxed) }
    }

    /// Whether this end says hello, and so expects an answer to it.
    var saysHello: Bool { isDialled && link.settings.saysHello }

    /// Puts one message into the outgoing queue; the caller flushes. Returns the offset of its first byte in the stream.
    @discardableResult
    func append(_ message: UnsafeRawBufferPointer) -> UInt64 { write(.copied(message)) }

    /// Does the same with a large message, without a copy where that is possible.
    @discardableResult
    func append(shared message: Bytes) -> UInt64 { write(.shared(message)) }

    /// The first byte that a dialling end writes tells the framing.
    private func write(_ message: OutgoingMessage) -> UInt64 {
        if isTraced { trace(message) }
        return stream.write { queue, offset in framing.write(message, into: &queue, isFirst: isDialled && offset == 0) }
    }

    /// Traces a message that came.
    @inline(__always)
    func traceReceived(_ message: Bytes) {
        if isTraced { message.withUnsafeBytes { trace($0, isSent: false) } }
    }

    @inline(never)
    private func trace(_ message: OutgoingMessage) {
        switch message {
        case .copied(let bytes): trace(bytes, isSent: true)
        case .shared(let bytes): bytes.withUnsafeBytes { trace($0, isSent: true) }
        }
    }

    /// Reads the link, which is safe on any thread: before the channel has its last link, no other thread knows the channel.
    /// Reads the gate only for what has come, on the loop.
    @inline(never)
    private func trace(_ message: UnsafeRawBufferPointer, isSent: Bool) {
        link.settings.trace?(
            MessageTrace.record(
                message, isSent: isSent, isLocked: !isSent && gate.login.isLocked, peer: stream.remoteAddress))
    }

    /// Appends a message that the closure writes.
    func append(_ write: (JSONOutput) -> Void) {
        let output = JSONOutput()
        write(output)
        append(output.bytes)
    }

    /// Sends one message.
    /// - Parameter isLast: whether the calling code does nothing more in this turn of the loop.
    func send(_ message: UnsafeRawBufferPointer, isLast: Bool) {
        append(message)
        stream.flush(isLast ? .last : .more)
        noteAnswer()
    }

    /// Sends a notification of the protocol.
    func notify(_ method: String) {
        append { MessageWriter.writeNotification(method, in: $0) }
        stream.flush()
    }

    /// Tells the other end that this end will not come back, sends what is queued, and ends the connection.
    func sayGoodbye() {
        if peerRunsLibrary { notify(SystemMethod.goodbye) }
        stream.close()
    }

    /// Does the same without waiting for a peer that does not read.
    package func cutOff() {
        if peerRunsLibrary { notify(SystemMethod.goodbye) }
        stream.abort()
    }

    /// Takes no new calls; running ones go on. The connection ends when the last call has been answered. A peer that runs this
    /// library is told, and closes its end when it has all its answers: so a call on its way here is refused and not lost. For
    /// any other peer this end closes.
    package func drain() { stream.loop.submit { [self] in link.drain(over: self) } }

    /// Ends the connection if the new list of tokens does not let its caller in.
    package func judgeAgain() { stream.loop.submit { [self] in link.endIfRevoked() } }

    /// Ends the channel when nothing runs for it. Called when this end awaits nothing from it any more.
    func finishWhenIdle() {
        stream.loop.submit { [self] in
            noteDraining()
            finishIfAnswered()
        }
    }
}

// MARK: ending; on the loop

extension MessageChannel {
    /// Stops reading for good. What is in the outgoing queue still leaves, unless the stream is aborted.
    /// - Parameter why: the reason that the owner is told when this end ends the stream.
    /// - Returns: false when the channel was closed before.
    @discardableResult
    func close(because why: String = "closed at this end") -> Bool {
        guard !isClosed else { return false }
        input.reading = .over(why)
        return true
    }

    @inline(__always)
    var isClosed: Bool { if case .over = input.reading { true } else { false } }

    /// Notes that the other end sends no more, or takes no more calls.
    private func noteDraining() {
        if !isClosed { link.half.life.drains() }
    }

    /// Called when a request of the link has run.
    @inline(__always)
    func answered() {
        gate.requestEnded()
        retryWaitingRequests()
        finishIfAnswered()
    }

    /// Ends the channel if no answer is owed over it any more. If the session goes on, running requests are answered over the
    /// next channel.
    func finishIfAnswered() {
        guard input.waiting.isEmpty, isEnding || !peerRunsLibrary && link.half.calls.isDrained else { return }
        // In the next turn, so that the last answer is in the queue by then.
        stream.loop.submit { [self] in
            // Without a goodbye the other end would stop the posts that it has not run yet.
            if isDialled, !isClosed, link.half.life.isDraining { sayGoodbye() } else { stream.close() }
        }
    }

    /// Asked after every answer, so the rarest condition comes first.
    private var isEnding: Bool {
        link.half.life.isDraining && input.isReading
            && (link.half.life.isResumable || link.half.calls.count == 0)
    }

    /// Ends this channel because another one serves the link now. Messages that still arrive here are too late.
    func replaced() {
        guard close() else { return }
        link.requester.ended(self, sent: .max, why: "another connection has taken its place", sessionGoesOn: true)
        stream.abort()
    }

    /// Called when all requests that came have begun. If the other end has closed its sending side, its last calls get
    /// `halfCloseGrace` from now.
    func allHaveBegun() {
        finishIfAnswered()
        guard input.hasEnded, input.waiting.isEmpty, !isClosed else { return }
        input.hasEnded = false
        stream.loop.schedule(at: stream.loop.now.advanced(by: link.settings.limits.halfCloseGrace)) { [self] in
            if !link.half.life.isResumable, link.channel === self {
                if link.half.calls.count > 0 { link.overran(.halfCloseGrace) }
                link.stopRequests()
                // What stops is answered, and then the channel ends. Not at once if an object goes on.
                finishIfAnswered()
                let end = stream.loop.now.advanced(by: link.settings.limits.halfCloseGrace)
                return _ = stream.loop.schedule(at: end) { [self] in stream.close() }
            }
            stream.close()
        }
    }
}

extension MessageChannel: ByteReceiver {
    package func received(_ bytes: Bytes) {
        guard !isClosed else { return }
        if !gate.hasMetPeer { meetPeer() }
        frames.append(bytes)
        noteReceived(bytes.count)
        if input.isReading { readFrames() }
    }

    package var wantsMore: Bool { input.isReading }

    package func outputChanged() {
        guard !isClosed else { return }
        input.output = stream.waiting
        tellBytes()
        if stream.isCrowded { return }
        link.requester.outputChanged()
        retryWaitingRequests()
    }

    package func pausedReading() { link.overran(.pauseReading) }

    /// The other end has closed its sending side. Returns whether the channel stays open for what is still to be done:
    /// - A peer whose session goes on may come back for its answers, so only what it has sent is still read.
    /// - Another peer may have ended only its questions, as `nc -N` does. It gets the answers that come soon.
    /// - A peer that has left in good order has its posts delivered.
    /// - A server that sends no more still has its earlier requests done; new calls wait for the next connection.
    package func peerFinished() -> Bool {
        guard !isClosed else { return false }
        // A peer that runs this library sends again, over the next connection, what has not come whole over this one.
        if !isDialled, !peerRunsLibrary {
            frames.end()
            if input.isReading { readFrames() }
        }
        let isResumable = link.half.life.isResumable
        let isUnread = !input.isReading || !input.waiting.isEmpty
        let isOwed = isUnread && !isDialled || !isResumable && (isUnread || link.half.calls.count > 0)
        guard !isClosed, isOwed else { return false }
        if isDialled { link.leave(because: "closed by \(stream.remoteAddress)") }
        noteDraining()
        input.hasEnded = true
        allHaveBegun()
        return true
    }

    package func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {
        close()
        let why =
            switch end {
            case .local: input.whyOver
            case .remote: "closed by \(stream.remoteAddress)"
            case .failed(let text), .overrun(_, let text):
                isDialled && link.half.life.isGreeting ? "\(stream.remoteAddress): \(text)" : text
            }
        dropWaiting()
        closeGate(end)
        link.lost(self, sent: sent, why: why)
        // The next attempt may take as long to find that out, so callers are told now.
        if gate.isSilent { link.requester.feed { $0.half.unreachable(because: why) } }
        tellOwner(self, .ended(why: why))
    }
}
