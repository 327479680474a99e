// Receives bytes as they come from a stream and hands on frames. Learns the framing from the first byte.

package struct FrameReader: Sendable {
    /// May be raised while the stream goes on, as when a peer has logged in.
    package var limits: FrameLimits
    /// Nil until the first byte has told it.
    package private(set) var framing: Framing?
    /// How many frames have been whole.
    package private(set) var count = 0

    private var unread = ByteQueue()
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

    /// Whether a frame has begun whose end has not come, as far as `next` has looked.
    package var isInsideFrame: Bool { framer?.isInsideFrame ?? false }

    package mutating func append(_ bytes: Bytes) {
        if failure == nil { unread.append(bytes) }
    }

    /// No more bytes come.
    package mutating func end() {
        hasEnded = true
        if let rest = framer?.endOfLastFrame { append(rest) }
    }

    /// The next whole frame, or nil when more bytes are needed. Some peers send empty frames to keep a connection open; the
    /// caller passes over them and counts how many. After an error the reader is finished and goes on throwing the same one.
    package mutating func next() throws(FramingError) -> Bytes? {
        if let failure { throw failure }
        do throws(FramingError) {
            if framer == nil { try detectFraming() }
            if let frame = try framer?.next(in: &unread, limits: limits) {
                count &+= 1
                return frame
            }
            if hasEnded, isInsideFrame { throw .cutOff }
            return nil
        } catch {
            failure = error
            unread.removeAll()
            framer = nil
            throw error
        }
    }

    private mutating func detectFraming() throws(FramingError) {
        while framing == nil, !unread.isEmpty {
            let (blanks, first) = unread.withFront { front in
                let blanks = leadingBlanks(in: front)
                return (blanks, blanks < front.count ? front[blanks] : nil)
            }
            unread.skip(blanks)
            hasLeadingBlanks = hasLeadingBlanks || blanks > 0
            guard let first else { continue }
            let framing = try Framing.told(by: first, isFirst: !hasLeadingBlanks)
            (self.framing, framer) = (framing, framing.framer)
        }
    }
}
