// Takes bytes as they come over a connection and returns whole frames. The first byte tells the framing.

package struct FrameReader: Sendable {
    /// May be raised while the connection goes on, for instance when a peer has logged in.
    package var limits: FrameLimits
    /// The framing that the first byte has told.
    package private(set) var framing: Framing?
    /// Whether a frame has begun that is not complete yet. As of the last call of `next`.
    package private(set) var isInsideFrame = false
    private var hasEnded = false
    package private(set) var isLengthPrefixed = false
    /// Whether white space came before the first other byte.
    private var hasLeadingBlanks = false
    /// How many whole frames have been returned.
    package private(set) var count = 0

    private var unread = UnreadBytes()
    /// Nil until the first byte has told it, unless it was given.
    private var framer: (any Framer)?
    private var failure: FramingError?

    /// - Parameter framer: reads the connection; nil to learn its framing from the first byte.
    package init(limits: FrameLimits = .init(), _ framer: (any Framer)? = nil) {
        self.limits = limits
        self.framer = framer
        isLengthPrefixed = framer is LengthFramer
    }

    /// Whether it is known how the connection is cut into frames.
    package var isTold: Bool { framer != nil }

    /// The first of the bytes that could not be read, as a text for people; after an error.
    package var beginning: String { Bytes(copying: unread.front).beginning }

    /// How much memory the bytes take that are not read yet.
    package var unreadBytes: Int { unread.memory }

    package mutating func append(_ bytes: Bytes) {
        if failure == nil { unread.append(bytes) }
    }

    /// Says that no more bytes come. Completes the last line.
    package mutating func end() {
        hasEnded = true
        // An error is thrown again by `next`.
        if framer == nil { try? detectFraming() }
        if failure == nil { framer?.end(&unread) }
    }

    /// Returns the next whole frame, or nil when more bytes are needed. The caller skips and counts empty messages. After an error
    /// the reader is finished, and throws the same error at each call.
    package mutating func next() throws(FramingError) -> Frame? {
        if let failure { throw failure }
        do throws(FramingError) {
            // To ask whether there is a framer takes longer than to ask for the usual one.
            if !isLengthPrefixed, framer == nil { try detectFraming() }
            if !unread.isEmpty, let frame = try nextFrame() {
                count &+= 1
                isInsideFrame = false
                return frame
            }
            isInsideFrame = !unread.isEmpty
            if hasEnded, isInsideFrame { throw .cutOff }
            return nil
        } catch {
            failure = error
            let beginning = Bytes(copying: UnsafeRawBufferPointer(rebasing: unread.front.prefix(Bytes.mostShown + 1)))
            unread = UnreadBytes()
            unread.append(beginning)
            isInsideFrame = false
            throw error
        }
    }

    @inline(__always)
    private mutating func nextFrame() throws(FramingError) -> Frame? {
        guard isLengthPrefixed else { return try framer?.next(in: &unread, limits: limits) }
        // The same, but without finding the framer's function and memory at run time for each message.
        var framer = LengthFramer()
        return try framer.next(in: &unread, limits: limits)
    }

    private mutating func detectFraming() throws(FramingError) {
        while framer == nil, !unread.isEmpty {
            let blanks = leadingBlanks(in: unread.front)
            hasLeadingBlanks = hasLeadingBlanks || blanks > 0
            let isBlank = blanks == unread.count
            unread.skip(blanks)
            guard !isBlank, let first = unread.front.first else { continue }
            let framing = try Framing.detect(firstByte: first, isFirst: !hasLeadingBlanks)
            (self.framing, framer) = (framing, framing.framer)
            isLengthPrefixed = framing == .lengthPrefixed
        }
    }
}
