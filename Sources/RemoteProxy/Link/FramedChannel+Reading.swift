// The reading side of a framed channel: turns bytes into frames and frames into messages, and hands each message to the link. On
// the loop.

import RPCWire

extension FramedChannel {
    /// When the next frame is read.
    enum Reading {
        case now
        /// In the loop's next turn.
        case later
        /// When the link wants more.
        case paused
        /// Never again.
        case over(_ why: String)

        @inline(__always)
        var isNow: Bool { if case .now = self { true } else { false } }
        var whyOver: String { if case .over(let why) = self { why } else { "" } }
    }

    /// How many messages are read in one turn of the loop. The rest is read in the next turn.
    private static let messagesPerTurn = 256

    /// Reads the frames that have come, some in each turn. Called when bytes came, and when reading may go on.
    func readFrames() {
        guard !isOver else { return }
        reading = .now
        let isAllRead = readSome()
        link.hasRead(all: isAllRead)
    }

    /// Returns whether all frames have been read that have come.
    @inline(__always)
    private func readSome() -> Bool {
        var budget = Self.messagesPerTurn
        // One reference for the whole loop, instead of a retain for each message. A hello may give the channel another link.
        var link = link
        while !isOver {
            if link !== self.link { link = self.link }
            guard link.wantsMore else {
                reading = .paused
                tellBytes()
                return false
            }
            guard budget > 0 else {
                readLater()
                return false
            }
            do {
                switch try frames.next() {
                case .message(let message):
                    if !hasLearntFraming { learnFraming() }
                    budget -= message.isEmpty ? 1 : take(message, by: link)
                case .reply(let bytes):
                    budget -= 1
                    bytes.withUnsafeBytes { _ = carrier.write($0) }
                    carrier.flush()
                case .end(let reply):
                    reply.withUnsafeBytes { _ = carrier.write($0) }
                    stopReading(because: "closed by \(carrier.remoteAddress)")
                    carrier.close()
                case nil:
                    hasReadAll()
                    carrier.resumeReading()
                    return true
                }
            } catch {
                if link.hasWaiting {
                    // The requests that came before the broken frame run first. The reader throws the same error again later.
                    link.pauseReading()
                    reading = .paused
                    tellBytes()
                    return false
                }
                return refuse(error)
            }
        }
        return false
    }

    /// Hands the message in a frame to the link. Returns how many messages it is, since each takes its time.
    @inline(__always)
    private func take(_ frame: consuming Bytes, by link: Link) -> Int {
        let size = frame.count
        traceReceived(frame)
        tellWholeMessage()
        if link.isGreetingServer || gate.login.isLocked {
            takeFirst(frame, by: link)
            return 1
        }
        let message = messages.read(consume frame)
        let count = message.count
        link.received(message, size: size)
        return count
    }

    /// Takes a message of an end of which nothing is known.
    @inline(never)
    private func takeFirst(_ frame: Bytes, by link: Link) {
        let message = messages.read(frame)
        if isDialled, case .refused(let error) = message, error.code == ErrorCode.parseError {
            return link.refuseForeigner("\(frame.beginning), and \(error.message)")
        }
        if link.isGreetingServer, case .failure(number: nil, let error) = message, error.code == ErrorCode.parseError {
            return link.refuseServer(because: "\(carrier.remoteAddress) does not take the greeting: \(error.message)")
        }
        if gate.login.isLocked { link.receivedLocked(message) } else { link.received(message, size: frame.count) }
    }

    private func readLater() {
        reading = .later
        carrier.loop.submit { [self] in readFrames() }
    }

    package func readOn() {
        if case .paused = reading { readLater() }
    }

    /// Ends the connection because the framing is broken: where the next message begins cannot be known. Returns whether all has
    /// been read all the same: if the peer has sent half a message as its last, it still gets the answers to its others.
    private func refuse(_ error: FramingError) -> Bool {
        guard error == .cutOff else {
            endBroken(error)
            return false
        }
        link.answer(.null, with: ErrorObject(error), in: nil)
        link.log(LogRecord(.warning, "ignored the last message of \(carrier.remoteAddress): \(error)"))
        return true
    }

    private func endBroken(_ error: FramingError) {
        if gate.login.isLocked, error.limit == .maximumFrameSize { return endGate(.loginInput) }
        link.overran(error.limit)
        if link.isGreetingServer {
            let isNoLength = frames.isLengthPrefixed && error.limit == .maximumFrameSize
            let fault = isNoLength ? "which is no length of a message (RPCClient.Configuration.peer)" : "and \(error)"
            return link.refuseForeigner("\(frames.beginning), \(fault)")
        }
        if let text = error.plainAnswer {
            text.withUnsafeBytes { _ = append(.copied($0)) }
            carrier.flush()
        } else {
            if !hasLearntFraming { learnFraming() }
            link.answer(.null, with: ErrorObject(error), in: nil)
        }
        link.log(LogRecord(.warning, "closed \(carrier.remoteAddress): \(error)"))
        // If the session went on, the other end would send the same bytes again.
        link.endWithChannel()
        link.outputChanged(of: self)
        stopReading(because: "what \(carrier.remoteAddress) sent cannot be read: \(error)")
        carrier.close()
    }
}
