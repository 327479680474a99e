// The reading side of a channel: bytes to frames, frames to messages, each message to the link. Requests that may not begin yet
// wait here: they begin in their order when others have, and reading pauses only when they take more memory than they may. All
// other messages pass them. On the loop.

import RPCWire

extension MessageChannel {
    /// How far a channel is with what has come over it.
    struct Input {
        /// Whether frames that have come are read now.
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
        /// The loop is about to look whether they may.
        var isBeginning = false
        /// Reading has paused for one turn since a request could not begin.
        var hasPaused = false
        /// The other end says no more, and its last calls have not been given their time yet.
        var hasEnded = false
        /// The other end asked for a report while requests waited, which were not counted in it: it gets another one behind them.
        var owesReport = false
        /// The log has been told that reading pauses.
        var hasToldOfPause = false

        @inline(__always)
        var isReading: Bool { if case .now = reading { true } else { false } }
        var isPaused: Bool { if case .paused = reading { true } else { false } }
        var whyOver: String { if case .over(let why) = reading { why } else { "" } }
    }

    /// How many frames one turn takes before the rest waits.
    private static let framesPerTurn = 256

    func readFrames() {
        guard !isClosed else { return }
        input.reading = .now
        defer { handOnReplies() }
        var budget = Self.framesPerTurn
        // Counted once for all that is read. A hello may have the channel go on with another.
        var link = link
        while !isClosed {
            if link !== self.link { link = self.link }
            if !input.waiting.isEmpty, let limit = overrunByWaiting { return pauseReading(limit) }
            guard budget > 0 else { return readLater() }
            budget -= 1
            let mayBegin = input.waiting.isEmpty && link.nextRequest == .now
            if mayBegin {
                input.hasPaused = false
            } else if input.waiting.isEmpty, !input.hasPaused {
                // Requests that are soon over are read when those before them are, and so need not be kept. A turn later the
                // rest is read in any case, since there may be replies among it.
                input.hasPaused = true
                return readLater()
            }
            do {
                guard let frame = try frames.next() else {
                    looked()
                    stream.resumeReading()
                    return finishIfAnswered()
                }
                if link.half.life.isGreeting { noteFraming() }
                // It says nothing, but has taken time.
                if frame.isEmpty { continue }
                take(consume frame, by: link, mayBegin)
                if link.half.life.isGreeting, !saysHello { _ = link.half.life.greeted() }
            } catch {
                guard input.waiting.isEmpty else {
                    // Not before the requests that came whole. The reader says the same again.
                    input.reading = .paused
                    return
                }
                return refuse(error)
            }
        }
    }

    /// Hands on what is in a frame, or keeps it for later.
    @inline(__always)
    private func take(_ frame: consuming Bytes, by link: Link, _ mayBegin: Bool) {
        let size = frame.count
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

    /// All that came together: callers that are resumed while the rest is still being read would get in the way of it.
    func handOnReplies() {
        guard !replies.isEmpty else { return }
        leaveIfAnswered()
        link.requester.replied(&replies, over: self)
        // One by one: there are few, and to remove a range takes longer.
        while !replies.isEmpty { replies.removeLast() }
    }

    // MARK: what cannot be read

    /// The framing is broken: where the next message begins cannot be known, so nothing more is read.
    private func refuse(_ error: FramingError) {
        if gate.login.isLocked, error.limit == .maximumFrameSize { return endGate(.loginInput) }
        if error == .cutOff { return refuseHalf(error) }
        link.overran(error.limit)
        if let text = error.plainAnswer {
            text.withUnsafeBytes { _ = append($0) }
            stream.flush()
        } else {
            if link.half.life.isGreeting { noteFraming() }
            link.answer(.null, with: ErrorObject(error), in: nil)
        }
        let why =
            isDialled && link.half.life.isGreeting
            ? "\(stream.remoteAddress) does not answer as a server of this kind does: \(error)"
            : "what \(stream.remoteAddress) sent cannot be read: \(error)"
        link.requester.log("closed \(stream.remoteAddress): \(error)")
        // An end that resumed the session would send the same again.
        link.endWithChannel()
        close(because: why)
        stream.close()
    }

    /// Of a peer that says no more. It still gets the answers to all else.
    private func refuseHalf(_ error: FramingError) {
        link.answer(.null, with: ErrorObject(error), in: nil)
        link.requester.log("ignored the last message of \(stream.remoteAddress): \(error)")
        finishIfAnswered()
    }

    /// A frame holds no message.
    func refuseText(_ error: ErrorObject) {
        link.overran(error.limit)
        link.answer(.null, with: error, in: nil)
        // Bytes that were never JSON are not a caller with a typing error but another protocol.
        guard link.half.life.isGreeting, error.code == ErrorCode.parseError, !isClosed else { return }
        let why = "\(stream.remoteAddress) does not answer as a server of this kind does: \(error.message)"
        if isDialled { close(because: why) } else { close() }
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

    /// Whether a message is handled although requests wait that came before it: all but requests, and of the protocol's own
    /// notices those that have nothing to do with the requests before them.
    private func passesWaiting(_ message: Message) -> Bool {
        switch message {
        case .request(let request): passesWaiting(request)
        case .batch(let messages): messages.allSatisfy { passesWaiting($0) }
        // It counts like any other request, in its order.
        case .unreadable: false
        case .result, .failure, .invalid, .refused, .ignored: true
        }
    }

    private func passesWaiting(_ request: Request) -> Bool {
        guard request.isSystem else { return false }
        switch request.method.description {
        case SystemMethod.hello, SystemMethod.authenticate, SystemMethod.ping: return true
        case SystemMethod.received, SystemMethod.report, SystemMethod.drain: return request.id == nil
        // One of a call that waits here comes behind that.
        case SystemMethod.cancel: return link.runs(canceledBy: request)
        default: return false
        }
    }

    /// Begins requests that wait, for as long as they may.
    private func beginWaiting() {
        input.isBeginning = false
        defer { handOnReplies() }
        var budget = Self.framesPerTurn
        while !isClosed, !input.waiting.isEmpty {
            switch link.nextRequest {
            case .now where budget > 0: budget -= 1
            // Asked again when a request has begun or ended.
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

    /// A request has begun or ended.
    @inline(__always)
    func unstall() {
        if !input.waiting.isEmpty { beginLater() }
    }

    /// Little enough to be kept of every connection, however much the others have.
    private static var little: Int { 64 << 10 }

    /// The limit that the requests which wait have reached.
    private var overrunByWaiting: Limit? {
        let bytes = input.waiting.bytes
        if bytes >= link.settings.limits.maximumBytesInFlight { return .maximumBytesInFlight }
        return bytes >= Self.little && link.admission.waitsTooMuchInAll ? .maximumBytesInAll : nil
    }

    private func pauseReading(_ limit: Limit) {
        input.reading = .paused
        link.overran(limit)
        guard !input.hasToldOfPause else { return }
        input.hasToldOfPause = true
        link.requester.log(
            "reading from \(stream.remoteAddress) pauses, replies too: its requests that wait for their turn have "
                + "\(input.waiting.bytes) bytes (\(limit)). This is told once for a connection")
    }

    /// Goes on reading when half of what may wait has begun.
    private func readOn() {
        guard input.isPaused, overrunByWaiting == nil,
            input.waiting.isEmpty || input.waiting.bytes <= link.settings.limits.maximumBytesInFlight / 2
        else { return }
        readLater()
    }

    private func changeWaiting(_ change: (inout WaitingFrames) -> Void) {
        let before = input.waiting.bytes
        change(&input.waiting)
        link.admission.tellWaiting(input.waiting.bytes - before)
    }

    /// The channel is over: what has not begun never will. Unless the session goes on: then the other end sends it again.
    func dropWaiting() {
        guard !input.waiting.isEmpty else { return }
        if !link.half.life.isResumable {
            let count = input.waiting.count == 1 ? "1 request" : "\(input.waiting.count) requests"
            link.requester.log(
                "\(count) of \(stream.remoteAddress) had not begun when the connection ended, and never will")
        }
        changeWaiting { $0.removeAll() }
    }
}

/// Frames in the order in which they came, and how much memory they take.
struct WaitingFrames {
    /// What a frame takes besides its bytes.
    private static let overhead = 128

    private var frames: [Bytes] = []
    private var first = 0
    /// How much memory the frames take, about.
    private(set) var bytes = 0

    var isEmpty: Bool { first == frames.count }
    var count: Int { frames.count - first }

    /// Adds a frame at the end. A small part of a large chunk is copied, so that it does not keep the chunk.
    mutating func append(_ frame: Bytes) {
        frames.append(frame.isSmallPart ? Bytes(copying: frame.memory) : frame)
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

extension Bytes {
    /// Whether more than three quarters of the chunk that they lie in are something else.
    fileprivate var isSmallPart: Bool { count < (parts.chunk?.memory.count ?? 0) / 4 }
}
