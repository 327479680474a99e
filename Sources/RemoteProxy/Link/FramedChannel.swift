// A channel of messages over one of bytes: frames, a trace, and the watch over the connection.

import JSONCodec
package import RPCWire

/// Puts each message into a frame of bytes, and cuts the bytes that come into messages. Ends when its byte channel ends.
///
/// `@unchecked Sendable`: what any thread may use is immutable, or is touched inside `ByteChannel.write` only, which one thread
/// enters at a time. All other state is touched on the loop's thread only.
package final class FramedChannel: MessageChannel, @unchecked Sendable {
    package let carrier: any ByteChannel
    /// Whether this end dialled. Then it tells the framing.
    let isDialled: Bool
    /// Whether `LinkSettings.trace` gets the messages. It stands here because each message asks for it.
    private let isTraced: Bool
    /// Touched only inside `ByteChannel.write`.
    @exclusivity(unchecked) private var writer: FrameWriter

    // On the loop. Access is unchecked for the same reason as in `Link`.
    @exclusivity(unchecked) package var link: Link
    @exclusivity(unchecked) var frames: FrameReader
    @exclusivity(unchecked) var reading = Reading.now
    /// Whether this end frames its messages as the other one does.
    @exclusivity(unchecked) private(set) var hasLearntFraming: Bool
    let messages: MessageReader
    /// Watches the identity, the speed and the life of the connection.
    @exclusivity(unchecked) var gate: Gate
    /// When the loop will next look at the gate.
    var gateTimer: (due: Instant, timer: any LoopTimer)?
    /// What the link's account has been told of the bytes that are not read yet.
    @exclusivity(unchecked) private var reported = ReportedBytes()

    /// - Parameter framer: how this end frames its messages if it has dialled; nil if the first byte from the other end tells.
    package init(_ carrier: any ByteChannel, for link: Link, _ framer: (any Framer)? = nil) {
        let settings = link.settings
        self.carrier = carrier
        self.link = link
        isDialled = framer != nil
        hasLearntFraming = isDialled
        isTraced = settings.trace != nil
        writer = FrameWriter(framer ?? Framing.lines.framer)
        frames = FrameReader(limits: settings.limits.frames, framer)
        messages = MessageReader(
            maximumDepth: settings.limits.maximumDepth, maximumBatch: settings.limits.maximumBatch)
        gate = Gate(link.context.settings, isAccepted: framer == nil, at: carrier.loop.now)
    }

    /// Goes on where another channel has read a hello that asks for a session of another link.
    private init(_ carrier: any ByteChannel, after former: FramedChannel, for link: Link) {
        self.carrier = carrier
        self.link = link
        (isDialled, isTraced) = (former.isDialled, former.isTraced)
        (writer, hasLearntFraming) = (former.writer, former.hasLearntFraming)
        (frames, messages, gate) = (former.frames, former.messages, former.gate)
        // The other link says when.
        reading = .paused
    }

    package func open() {
        openGate()
        carrier.open(self)
    }

    package func moved(to link: Link) -> (any MessageChannel)? {
        guard let carrier = carrier.moved(to: link.loop) else { return nil }
        stopReading(because: "the client goes on with another session")
        closeGate(.local)
        return FramedChannel(carrier, after: self, for: link)
    }
}

// MARK: what goes out; from anywhere

extension FramedChannel {
    package var loop: any Loop { carrier.loop }
    package var remoteAddress: String { carrier.remoteAddress }
    package var waiting: Int { carrier.waiting }
    package var isCrowded: Bool { carrier.isCrowded }

    @discardableResult
    package func append(_ message: OutgoingMessage) -> UInt64 {
        if isTraced { trace(message) }
        // The first byte that a dialling end writes tells the framing.
        return carrier.write { queue, offset in writer.write(message, into: &queue, isFirst: isDialled && offset == 0) }
    }

    package func flush(_ hint: FlushHint) { carrier.flush(hint) }
    package func close() { carrier.close() }
    package func abort() { carrier.abort() }

    /// Frames what goes out as the other end has framed what came.
    func learnFraming() {
        guard let framing = frames.framing else { return }
        hasLearntFraming = true
        carrier.write { _, _ in writer = FrameWriter(framing.framer) }
    }

    @inline(never)
    private func trace(_ message: OutgoingMessage) {
        switch message {
        case .copied(let bytes): trace(bytes, isSent: true)
        case .shared(let bytes): bytes.withUnsafeBytes { trace($0, isSent: true) }
        }
    }

    /// Traces a message that came.
    @inline(__always)
    func traceReceived(_ message: Bytes) {
        if isTraced { message.withUnsafeBytes { trace($0, isSent: false) } }
    }

    /// Reads the gate only for what has come, on the loop.
    @inline(never)
    private func trace(_ message: UnsafeRawBufferPointer, isSent: Bool) {
        link.settings.trace?(
            MessageTrace.record(
                message, isSent: isSent, isLocked: !isSent && gate.login.isLocked, peer: carrier.remoteAddress))
    }
}

// MARK: ending; on the loop

extension FramedChannel {
    @discardableResult
    package func stopReading(because why: String) -> Bool {
        guard !isOver else { return false }
        reading = .over(why)
        tellBytes()
        return true
    }

    @inline(__always)
    package var isOver: Bool { if case .over = reading { true } else { false } }

    /// Tells the account of the link how many bytes of incomplete messages there are.
    func tellBytes() {
        if let change = reported.change(to: isOver ? 0 : frames.unreadBytes) { link.requester.account.owes(change) }
    }

    /// Called when a message has come whole. From now on it counts as a request, or not at all.
    @inline(__always)
    func tellWholeMessage() { if !reported.isZero { tellBytes() } }
}

extension FramedChannel: ByteReceiver {
    package func received(_ bytes: Bytes) {
        guard !isOver else { return }
        if !gate.hasMetPeer { meetPeer() }
        frames.append(bytes)
        countReceived(bytes.count)
        if reading.isNow { readFrames() }
    }

    package var wantsMore: Bool { reading.isNow }

    package func outputChanged() {
        link.outputChanged(of: self)
    }

    package func pausedReading() { link.overran(.pauseReading) }

    package func peerFinished() -> Bool {
        guard !isOver else { return false }
        // A peer that runs this library sends again, over the next connection, what has not come whole over this one.
        if !isDialled, !link.peerRunsLibrary {
            frames.end()
            if reading.isNow { readFrames() }
        }
        return !isOver && link.peerFinished()
    }

    package func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {
        stopReading(because: "closed at this end")
        let why =
            switch end {
            case .local: reading.whyOver
            case .remote: "closed by \(carrier.remoteAddress)"
            case .failed(let text), .broken(let text), .overrun(_, let text):
                link.isGreetingServer ? "\(carrier.remoteAddress): \(text)" : text
            case .refused(let text):
                "\(carrier.remoteAddress) wants another certificate of this end, in RPCClient.Configuration.tls: \(text)"
            }
        if case .refused = end { link.turnedBack(because: why) }
        closeGate(end)
        link.ended(self, sentUpTo: sent, because: why, isSilent: gate.isSilent)
    }
}
