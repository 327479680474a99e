// One stream under a peer: bytes in, frames, messages; replies go to the calling side, requests to the answering
// side. Ends with the stream.

package import RPCWire

/// `@unchecked Sendable`: all that is variable is touched on the loop's thread only, by what arrives there and by the
/// workers, which run there; what other threads see is immutable, or atomic inside.
package final class Connection: @unchecked Sendable {
    /// Which end of the connection this is, and what that end does first.
    package enum Role: Sendable {
        /// This end dialled and says hello before anything else.
        case dialled(Framing)
        /// This end was dialled and is told the framing by the first byte.
        case accepted
    }

    /// What the owner of the connection is told, on the loop.
    package struct Events: Sendable {
        /// Calls may go over the connection.
        package var ready: @Sendable (Connection) -> Void = { _ in }
        /// The other end takes no new calls; answers to those it has will still come.
        package var leaving: @Sendable (Connection, _ why: String) -> Void = { _, _ in }
        /// The connection is gone. Once, and last.
        package var ended: @Sendable (Connection, _ why: String) -> Void = { _, _ in }

        package init() {}
    }

    let peer: Peer
    package let stream: any ByteStream
    /// Tells this connection from the others that serve the same peer.
    let number: Int
    let role: Role
    let events: Events

    // The reading side, on the loop.
    var frames: FrameDecoder
    let messages: MessageDecoder
    var isFirstMessage = true
    /// Nothing more is read: the bytes make no sense, or the stream has ended.
    var isRefused = false
    /// Frames wait in `frames` until those before them have been dealt with.
    var isReadingLater = false
    /// They wait for a request to begin or to end, and not just for their turn.
    var isStalled = false
    /// The answer to this end's hello has come.
    var hasGreeted = false
    /// New calls go elsewhere; this connection ends when nothing is awaited from it or run for it any more.
    var isLeft = false
    /// The peer has said its last word but still listens for answers.
    var isHalfClosed = false
    var posts = PostQueue()
    /// Admitted requests that no worker has begun yet.
    var waitingRequests = 0
    /// What the peer's calls may take unless they say otherwise; nil for peers that never said hello.
    var assumedTimeout: Duration?

    // The answering side, on the loop.
    var methods = ExportsView()
    var calls: IncomingCalls
    /// Who runs the call in each slot.
    var workers: [Worker?] = []
    /// When the loop will next look for deadlines.
    var alarm: (instant: Instant, timer: any LoopTimer)?

    /// What the connection is watched for.
    var gate: Gate
    /// Bytes of a peer that is not in yet which have not been looked at.
    var lockedInput = 0

    let agreement: Agreement

    /// - Parameter number: tells this connection from the others that serve the same peer.
    package init(_ stream: any ByteStream, number: Int, peer: Peer, role: Role, events: Events) {
        self.stream = stream
        self.number = number
        self.peer = peer
        self.role = role
        self.events = events
        let settings = peer.settings
        var framing: Framing?
        if case .dialled(let chosen) = role { framing = chosen }
        frames = FrameDecoder(limits: settings.frames, framing: framing)
        messages = MessageDecoder(maximumDepth: settings.maximumDepth, maximumBatch: settings.maximumBatch)
        calls = IncomingCalls(limit: settings.maximumRequestsInFlight)
        gate = Gate(
            settings.sharedGate, isAccepted: framing == nil, user: stream.peerUser, at: stream.loop.now)
        agreement = Agreement(framing: framing)
    }

    /// Opens the stream. An accepted connection is ready at once; a dialled one when its hello has been answered.
    package func open() {
        peer.serves(stream.remoteAddress)
        openGate()
        stream.open(self)
        switch role {
        case .dialled: sayHello()
        case .accepted:
            peer.attach(self)
            events.ready(self)
        }
    }

    var outgoingFraming: Framing { agreement.framing }
    var isOurKind: Bool { agreement.isOurKind }
}

extension Connection: ByteStreamReceiver {
    package func received(_ bytes: Bytes) {
        guard !isRefused else { return }
        frames.append(bytes)
        heard(bytes.count)
        if !isReadingLater { readFrames() }
    }

    package var wantsMore: Bool { !isReadingLater }

    /// A peer of our own kind that ends is gone, but its posts still count. Another may have only ended its questions,
    /// as `nc -N` does: it gets the answers that come soon.
    package func peerFinished() -> Bool {
        guard case .accepted = role, calls.count > 0 || isReadingLater else { return false }
        isHalfClosed = true
        if isOurKind { stopWorkers(in: calls.peerLeft()) }
        stream.loop.schedule(at: stream.loop.now.advanced(by: peer.settings.halfCloseGrace)) { [self] in
            stopRequests()
            stream.finish()
        }
        return true
    }

    package func ended(_ end: StreamEnd, sent: UInt64) {
        let why =
            switch end {
            case .local: gate.verdict ?? "closed at this end"
            case .remote: "closed by \(stream.remoteAddress)"
            case .failed(let text), .overrun(_, let text): text
            }
        isRefused = true
        closeGate(end)
        alarm?.timer.cancel()
        stopRequests()
        peer.ended(self, sent: sent, why: why)
        events.ended(self, why)
    }
}
