// Receives bytes as they come from a stream and hands on frames. Learns the framing from the first byte.

package struct FrameReader: Sendable {
    /// May be raised while the stream goes on, as when a peer has logged in.
    package var limits: FrameLimits
    /// Nil until the first byte has told it.
    package private(set) var framing: Framing?
    /// How many frames have been whole.
    package private(set) var count = 0
    /// Whether a frame has begun whose end has not come, as far as `next` has looked.
    package private(set) var isInsideFrame = false

    private var unread = UnreadBytes()
    private var framer: (any Framer)?
    private var failure: FramingError?
    private var hasEnded = false
    /// Whether white space came before the first byte that says something.
    private var hasLeadingBlanks = false

    /// - Parameter framing: what the stream is known to speak; nil to be told by the first byte.
    package init(limits: FrameLimits = .init(), framing: Framing? = nil) {
        self.limits = limits
        self.framing = framing
        framer = framing?.framer
    }

    package mutating func append(_ bytes: Bytes) {
        if failure == nil { unread.append(bytes) }
    }

    /// No more bytes come.
    package mutating func end() {
        hasEnded = true
        // The last line need not have an end.
        if framing == .lines { append(Bytes("\n")) }
    }

    /// The next whole frame, or nil when more bytes are needed. Some peers send empty frames to keep a connection open; the
    /// caller passes over them and counts how many. After an error the reader is finished and goes on throwing the same one.
    package mutating func next() throws(FramingError) -> Bytes? {
        if let failure { throw failure }
        do throws(FramingError) {
            if framer == nil { try detectFraming() }
            if !unread.isEmpty, let frame = try framer?.next(in: &unread, limits: limits) {
                count &+= 1
                isInsideFrame = false
                return frame
            }
            isInsideFrame = !unread.isEmpty
            if hasEnded, isInsideFrame { throw .cutOff }
            return nil
        } catch {
            failure = error
            unread = UnreadBytes()
            framer = nil
            isInsideFrame = false
            throw error
        }
    }

    private mutating func detectFraming() throws(FramingError) {
        while framing == nil, !unread.isEmpty {
            let blanks = leadingBlanks(in: unread.front)
            hasLeadingBlanks = hasLeadingBlanks || blanks > 0
            let isBlank = blanks == unread.count
            unread.skip(blanks)
            guard !isBlank, let first = unread.front.first else { continue }
            let framing = try Framing.told(by: first, isFirst: !hasLeadingBlanks)
            (self.framing, framer) = (framing, framing.framer)
        }
    }
}
