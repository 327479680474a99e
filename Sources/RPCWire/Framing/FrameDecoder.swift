// Receives bytes as they come from a stream, cuts them into frames, and hands each frame on as a view of the chunk it
// lies in. Only a frame that arrived in pieces is copied, once.
//
// Every byte is looked at once: the queue holds what has not been looked at, `partial` the beginning of a frame or
// header line that has. `failure` is final: the position in the stream is in doubt, nothing is skipped, and the
// stream is to be closed.

package struct FrameDecoder: Sendable {
    /// May be raised while the stream goes on, as when a peer has logged in.
    package var limits: FrameLimits
    /// Nil until the first byte has told it.
    package private(set) var framing: Framing?

    /// How many frames have been whole.
    package private(set) var count = 0

    private var unread = ByteQueue()
    private var partial = PartialFrame()
    private var state = State.start
    private var failure: FramingError?
    private var hasEnded = false
    /// Whether white space came before the first byte that says something.
    private var hasLeadingBlanks = false

    /// Where between two frames the first unread byte stands. Lines have no state but `start`.
    private enum State {
        case start
        case prefix(value: UInt32, bytes: Int)
        case headers(HeaderBlock, bytes: Int)
        case body(length: Int)
    }

    /// - Parameter framing: what the stream is known to speak; nil to be told by the first byte.
    package init(limits: FrameLimits = .init(), framing: Framing? = nil) {
        self.limits = limits
        self.framing = framing
    }

    /// Whether a frame has begun whose end has not come, as far as `next` has looked. It changes nothing: of a decoder that
    /// stands in an object, what does not say that it may is handed a copy.
    package var isInsideFrame: Bool {
        mutating get {
            if case .start = state { return !partial.isEmpty }
            return true
        }
    }

    package mutating func append(_ bytes: Bytes) {
        guard failure == nil else { return }
        unread.append(bytes)
    }

    /// No more bytes come. A last line need not have an end.
    package mutating func end() {
        hasEnded = true
        if framing == .lines { append(Bytes("\n")) }
    }

    /// The next whole frame, or nil when more bytes are needed. A frame or a line in which nothing stands is empty: some
    /// peers send them to keep a connection open, and whoever passes them over counts how many. After an error the decoder
    /// is finished and goes on throwing the same one.
    package mutating func next() throws(FramingError) -> Bytes? {
        // Nearly every frame between ends of our own kind; behind a failure nothing is unread.
        if case .lengthPrefixed? = framing, case .start = state,
            let frame = unread.takeWhole(upTo: limits.maximumFrameSize)
        {
            count &+= 1
            return frame
        }
        if let failure { throw failure }
        do throws(FramingError) {
            while !unread.isEmpty {
                if let frame = try step() {
                    count &+= 1
                    return frame
                }
            }
            if hasEnded, isInsideFrame { throw .cutOff }
            return nil
        } catch {
            failure = error
            unread.removeAll()
            partial = PartialFrame()
            throw error
        }
    }

    /// Takes at least one byte from the queue, or changes the framing or the state.
    private mutating func step() throws(FramingError) -> Bytes? {
        if case .body(let length) = state { return readBody(length) }
        switch framing {
        case .lengthPrefixed: return try readPrefix()
        case .lines: return try readLine()
        case .headers: return try readHeaders()
        case nil: try detectFraming()
        }
        return nil
    }

    private mutating func detectFraming() throws(FramingError) {
        let (blanks, first) = unread.withFront { front in
            let blanks = leadingBlanks(in: front)
            return (blanks, blanks < front.count ? front[blanks] : nil)
        }
        unread.skip(blanks)
        hasLeadingBlanks = hasLeadingBlanks || blanks > 0
        if let first { framing = try .told(by: first, isFirst: !hasLeadingBlanks) }
    }

    // MARK: Length and body

    private mutating func readPrefix() throws(FramingError) -> Bytes? {
        var (value, count): (UInt32, Int) = (0, 0)
        if case .prefix(let begun, let bytes) = state { (value, count) = (begun, bytes) }
        let taken = min(4 - count, unread.frontCount)
        unread.withFront { front in
            for byte in front.prefix(taken) { value = value << 8 | UInt32(byte) }
        }
        unread.skip(taken)
        count += taken
        guard count == 4 else {
            state = .prefix(value: value, bytes: count)
            return nil
        }
        return beginBody(try checked(length: Int(clamping: value), against: limits))
    }

    /// Nil unless that is all of the frame.
    private mutating func beginBody(_ length: Int) -> Bytes? {
        state = length == 0 ? .start : .body(length: length)
        return length == 0 ? .empty : nil
    }

    private mutating func readBody(_ length: Int) -> Bytes? {
        if partial.isEmpty, unread.frontCount >= length {
            state = .start
            return unread.take(length)
        }
        if let piece = unread.take(min(length - partial.count, unread.frontCount)) {
            partial.append(piece, of: length, isAnnounced: true)
        }
        guard partial.count >= length else { return nil }
        state = .start
        return partial.finish()
    }

    // MARK: Lines

    private mutating func readLine() throws(FramingError) -> Bytes? {
        // One more than the limit may be the CR before a line feed.
        let limit = limits.maximumFrameSize
        let room = limit == .max ? limit : limit + 1
        // Without its length, also where that is known: what is answered must not depend on how the bytes came in.
        let tooLarge = FramingError.frameTooLarge(length: nil, limit: limit)
        guard let line = try takeLine(room: room, otherwise: tooLarge) else {
            guard partial.count <= limit || partial.last == UInt8(ascii: "\r") else { throw tooLarge }
            return nil
        }
        let isBlank = line.withUnsafeBytes { leadingBlanks(in: $0) == $0.count }
        let text = line.withoutCarriageReturn ?? line
        guard text.count <= limit else { throw tooLarge }
        return isBlank ? .empty : text
    }

    /// The bytes up to the next line feed, which is taken and not returned; nil, with everything gathered, when there
    /// is none yet.
    private mutating func takeLine(room: Int, otherwise error: FramingError) throws(FramingError) -> Bytes? {
        let lineFeed = unread.withFront(firstLineFeed(in:))
        let count = lineFeed ?? unread.frontCount
        guard count <= room - partial.count else { throw error }
        let piece = unread.take(count)
        guard lineFeed != nil else {
            if let piece { partial.append(piece, of: room) }
            return nil
        }
        unread.skip(1)
        guard !partial.isEmpty else { return piece }
        if let piece { partial.append(piece, of: room) }
        return partial.finish()
    }

    // MARK: Headers

    private mutating func readHeaders() throws(FramingError) -> Bytes? {
        var (block, bytes) = (HeaderBlock(), 0)
        if case .headers(let begun, let count) = state { (block, bytes) = (begun, count) }
        // The line feed counts as well.
        let room = limits.maximumHeaderBlock - bytes - 1
        guard let line = try takeLine(room: room, otherwise: .headerBlockTooLarge(limit: limits.maximumHeaderBlock))
        else {
            state = .headers(block, bytes: bytes)
            return nil
        }
        guard let text = line.withoutCarriageReturn else { throw .header(.noCarriageReturn) }
        if text.isEmpty {
            guard let length = block.contentLength else { throw .header(.noContentLength) }
            return beginBody(length)
        }
        try text.withUnsafeBytes { (text) throws(FramingError) in try block.read(text, limits: limits) }
        state = .headers(block, bytes: bytes + line.count + 1)
        return nil
    }
}
