// The reading side of a channel: turns bytes into frames and frames into messages, and hands each message to the link. Requests
// that may not begin yet wait here and begin in their order. All other messages pass them. Reading pauses only when the waiting
// requests take more memory than they may. On the loop.

import RPCWire

extension MessageChannel {
    /// The state of reading from the other end.
    struct Input {
        /// When the next frame is read.
        enum Reading {
            case now
            /// In the loop's next turn.
            case later
            /// When fewer requests wait.
            case paused
            /// Never again.
            case over(_ why: String)
        }

        var reading = Reading.now
        /// Requests that may not begin yet.
        var waiting = WaitingFrames()
        /// Whether the loop is about to check if the waiting requests may begin.
        var isBeginning = false
        /// Whether reading has paused for one turn since a request could not begin.
        var hasPaused = false
        /// Whether the other end has closed its sending side and the grace time of its last calls has yet to start.
        var hasEnded = false
        /// Whether another report follows the waiting requests. The other end asked for one while they waited, so it did not
        /// count them.
        var owesReport = false
        /// Whether the log has been told that reading pauses.
        var hasToldOfPause = false
        /// Whether a report of what has come is due within a second.
        var isReportDue = false
        /// How many written bytes wait for the other end, since it does not read as fast as this one writes.
        var output = 0
        /// The memory that the link's account has been told of.
        var reported = ReportedBytes()

        @inline(__always)
        var isReading: Bool { if case .now = reading { true } else { false } }
        var isPaused: Bool { if case .paused = reading { true } else { false } }
        var whyOver: String { if case .over(let why) = reading { why } else { "" } }
    }

    /// How many frames are read in one turn of the loop. The rest is read in the next turn.
    private static let framesPerTurn = 256

    /// Reads the frames that have come, some in each turn. Called when bytes came, and when reading may go on.
    func readFrames() {
        guard !isClosed else { return }
        input.reading = .now
        defer { handOnReplies() }
        var budget = Self.framesPerTurn
        // One reference for the whole loop, instead of a retain for each message. A hello may give the channel another link.
        var link = link
        while !isClosed {
            if link !== self.link { link = self.link }
            if !input.waiting.isEmpty, let limit = overrunByWaiting { return pauseReading(limit) }
            guard budget > 0 else { return readLater() }
            budget -= 1
            let mayBegin = input.waiting.isEmpty && !isOutputCrowded && link.nextRequest == .now
            if mayBegin {
                input.hasPaused = false
            } else if input.waiting.isEmpty, !input.hasPaused {
                // The requests before this one may be over in a moment: then it need not be kept waiting. After one turn the
                // rest is read in any case, since there may be replies among it.
                input.hasPaused = true
                return readLater()
            }
            do {
                guard let frame = try frames.next() else {
                    noteAllRead()
                    stream.resumeReading()
                    return finishIfAnswered()
                }
                if link.half.life.isGreeting { noteFraming() }
                // An empty frame holds no message, but counts against the budget.
                if frame.isEmpty { continue }
                if isDialled, link.half.life.isGreeting, let why = messages.refusal(of: frame) {
                    return leaveForeigner(frame.beginning, "and \(why)")
                }
                take(consume frame, by: link, mayBegin)
                if link.half.life.isGreeting, !saysHello { _ = link.half.life.greeted() }
            } catch {
                guard input.waiting.isEmpty else {
                    // The requests that came before the broken frame run first. The reader throws the same error again later.
                    input.reading = .paused
                    return
                }
                return refuse(error)
            }
        }
    }

    /// Hands the message in a frame to the link, or keeps the frame for later.
    @inline(__always)
    private func take(_ frame: consuming Bytes, by link: Link, _ mayBegin: Bool) {
        let size = frame.count
        traceReceived(frame)
        // The message has come whole. From now on it counts as a request, or not at all.
        if !input.reported.isZero { tellBytes() }
        if mayBegin || gate.login.isLocked {
            return link.accept(messages.read(consume frame), size: size, over: self)
        }
        let message = messages.read(copy frame)
        guard passesWaiting(message) else { return keepWaiting(frame) }
        link.accept(message, size: size, over: self)
    }

    private func readLater() {
        input.reading = .later
        stream.loop.submit { [self] in readFrames() }
    }

    private func noteFraming() {
        if let framing = frames.framing { self.framing = framing }
    }

    /// Hands all collected replies to their callers at once. Callers that are resumed earlier would compete with the reading.
    func handOnReplies() {
        guard !replies.isEmpty else { return }
        link.requester.replied(&replies, over: self)
        // Removed one by one: there are few of them, and removing a range takes longer.
        while !replies.isEmpty { replies.removeLast() }
    }

    // MARK: what cannot be read

    /// Ends the connection because the framing is broken: where the next message begins cannot be known.
    private func refuse(_ error: FramingError) {
        if gate.login.isLocked, error.limit == .maximumFrameSize { return endGate(.loginInput) }
        if error == .cutOff { return refuseHalf(error) }
        link.overran(error.limit)
        if isDialled, link.half.life.isGreeting {
            let isNoLength = framing == .lengthPrefixed && error.limit == .maximumFrameSize
            return leaveForeigner(
                frames.beginning,
                isNoLength ? "which is no length of a message (RPCClient.Configuration.peer)" : "and \(error)")
        }
        if let text = error.plainAnswer {
            text.withUnsafeBytes { _ = append($0) }
            stream.flush()
        } else {
            if link.half.life.isGreeting { noteFraming() }
            link.answer(.null, with: ErrorObject(error), in: nil)
        }
        link.log(LogRecord(.warning, "closed \(stream.remoteAddress): \(error)"))
        // If the session went on, the other end would send the same bytes again.
        link.endWithChannel()
        close(because: "what \(stream.remoteAddress) sent cannot be read: \(error)")
        stream.close()
    }

    /// Leaves a server whose first bytes are no message, since it speaks another protocol. The next attempt would get the same
    /// bytes, so the calls that wait for a connection end.
    private func leaveForeigner(_ beginning: String, _ fault: String) {
        let why =
            "\(stream.remoteAddress) does not answer as a server of this kind does: it began with \(beginning), \(fault)"
        link.endWithChannel()
        close(because: why)
        link.requester.feed { $0.half.unreachable(because: why, isLasting: true) }
        tellOwner(self, .rejected(.unavailable, why: why))
        stream.abort()
    }

    /// Refuses the last, incomplete message of a peer that sends no more. The peer still gets the answers to its other
    /// messages.
    private func refuseHalf(_ error: FramingError) {
        link.answer(.null, with: ErrorObject(error), in: nil)
        link.log(LogRecord(.warning, "ignored the last message of \(stream.remoteAddress): \(error)"))
        finishIfAnswered()
    }

    /// Refuses a frame that holds no message.
    func refuseText(_ error: ErrorObject) {
        link.overran(error.limit)
        link.answer(.null, with: error, in: nil)
        // A first frame that is not JSON is not a caller's typing error: it belongs to another protocol.
        guard !isDialled, link.half.life.isGreeting, error.code == ErrorCode.parseError, !isClosed else { return }
        close()
        stream.close()
    }
}

// MARK: requests that wait

extension MessageChannel {
    @inline(never)
    private func keepWaiting(_ frame: Bytes) {
        let isFirst = input.waiting.isEmpty
        changeWaiting { $0.append(frame) }
        if isFirst { beginWaiting() }
    }

    /// Whether a message may overtake the requests that wait: any message but a request. Requests of the protocol may if their
    /// order does not matter.
    private func passesWaiting(_ message: Message) -> Bool {
        switch message {
        case .request(let request): passesWaiting(request)
        case .batch(let messages): messages.allSatisfy { passesWaiting($0) }
        // An unreadable request is counted by its number, in its order.
        case .unreadable: false
        case .result, .failure, .invalid, .refused, .ignored: true
        }
    }

    private func passesWaiting(_ request: Request) -> Bool {
        if case .transfer = request.mark { return peerHasTransfers }
        guard request.isSystem else { return false }
        switch request.shortName {
        case SystemMethod.hello, SystemMethod.authenticate, SystemMethod.ping: return true
        case SystemMethod.received, SystemMethod.report, SystemMethod.drain: return request.id == nil
        // The cancellation of a call that waits here must follow that call.
        case SystemMethod.cancel: return link.runs(canceledBy: request)
        default: return false
        }
    }

    /// Begins waiting requests, in order, for as long as they may begin.
    private func beginWaiting() {
        input.isBeginning = false
        defer { handOnReplies() }
        var budget = Self.framesPerTurn
        while !isClosed, !input.waiting.isEmpty {
            switch isOutputCrowded ? .stalled : link.nextRequest {
            case .now where budget > 0: budget -= 1
            // `retryWaitingRequests` comes back here when a request has begun or ended.
            case .stalled: return readOn()
            default:
                beginLater()
                return readOn()
            }
            var frame: Bytes?
            changeWaiting { frame = $0.popFirst() }
            if let frame { link.accept(messages.read(frame), size: frame.count, over: self) }
        }
        readOn()
        guard input.waiting.isEmpty else { return }
        if input.owesReport { link.report(over: self) }
        input.owesReport = false
        allHaveBegun()
    }

    private func beginLater() {
        guard !input.isBeginning else { return }
        input.isBeginning = true
        stream.loop.submit { [self] in beginWaiting() }
    }

    /// Called when a request has begun or ended: a waiting request may have its turn now.
    @inline(__always)
    func retryWaitingRequests() {
        if !input.waiting.isEmpty { beginLater() }
    }

    /// Whether answers wait for a peer that has dialled, so many that no further request of it begins. A dialling end begins
    /// the requests of its server in any case: if both ends waited, two ends that send much would wait for ever.
    private var isOutputCrowded: Bool {
        input.output > 0 && !isDialled && input.output > link.settings.limits.pauseReading
    }

    /// The limit that the waiting requests have reached; nil if none.
    private var overrunByWaiting: Limit? {
        let bytes = input.waiting.bytes
        if bytes >= link.settings.limits.maximumBytesInFlight { return .maximumBytesInFlight }
        return bytes >= SessionAccount.share && link.admission.isFullInAll ? .maximumBytesInAll : nil
    }

    // MARK: what the connection costs

    /// Counts an answer that may have to wait for the other end.
    @inline(__always)
    func noteAnswer() {
        guard input.output > 0 else { return }
        input.output = stream.waiting
        tellBytes()
    }

    /// Tells the account what this connection keeps: requests that wait, an incomplete message, and output that waits.
    func tellBytes() {
        let kept = isClosed ? 0 : input.waiting.bytes + frames.unreadBytes + input.output
        if let change = input.reported.change(to: kept) { link.requester.account.owes(change) }
    }

    private func pauseReading(_ limit: Limit) {
        input.reading = .paused
        link.overran(limit)
        guard !input.hasToldOfPause else { return }
        input.hasToldOfPause = true
        let text =
            "paused reading from \(stream.remoteAddress), replies too: its requests that wait for their turn have "
            + "\(input.waiting.bytes) bytes (\(limit)). Logged once for each connection"
        link.log(LogRecord(.warning, text))
    }

    /// Reads on after a pause, once at most half of the permitted bytes wait.
    private func readOn() {
        guard input.isPaused, overrunByWaiting == nil,
            input.waiting.isEmpty || input.waiting.bytes <= link.settings.limits.maximumBytesInFlight / 2
        else { return }
        readLater()
    }

    private func changeWaiting(_ change: (inout WaitingFrames) -> Void) {
        change(&input.waiting)
        tellBytes()
    }

    /// Drops what waits when the channel has ended. If the session goes on, the other end sends the requests again; otherwise
    /// they never run, and the log says so.
    func dropWaiting() {
        tellBytes()
        guard !input.waiting.isEmpty else { return }
        if !link.half.life.isResumable {
            let count = input.waiting.count == 1 ? "1 request" : "\(input.waiting.count) requests"
            let text = "\(count) of \(stream.remoteAddress) had not begun when the connection ended, and never will"
            link.log(LogRecord(.warning, text))
        }
        changeWaiting { $0.removeAll() }
    }
}

/// Frames in the order in which they came, with a count of the memory that they take.
struct WaitingFrames {
    /// The memory that a frame takes besides its bytes.
    private static let overhead = 128

    private var frames: [Bytes] = []
    private var first = 0
    /// About how much memory the frames take.
    private(set) var bytes = 0

    var isEmpty: Bool { first == frames.count }
    var count: Int { frames.count - first }

    /// Adds a frame at the end. Copies a frame that is a small part of its chunk, so as not to keep the whole chunk.
    mutating func append(_ frame: Bytes) {
        let (text, chunk) = frame.parts
        let isSmallPart = text.count < (chunk?.memory.count ?? 0) / 4
        frames.append(isSmallPart ? Bytes(copying: text) : frame)
        bytes += frame.count + Self.overhead
    }

    mutating func popFirst() -> Bytes? {
        guard first < frames.count else { return nil }
        let frame = frames[first]
        frames[first] = .empty
        first += 1
        bytes -= frame.count + Self.overhead
        if first == frames.count || first >= 256 {
            frames.removeFirst(first)
            first = 0
        }
        return frame
    }

    mutating func removeAll() { self = WaitingFrames() }
}
