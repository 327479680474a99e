// Frames that are lines. A line ends with a line feed, or with CR LF.

struct LineFramer: Framer {
    /// The first `known` bytes of the next line have been searched for a line feed.
    private var known = 0

    mutating func next(in unread: inout UnreadBytes, limits: FrameLimits) throws(FramingError) -> Frame? {
        let limit = limits.maximumFrameSize
        let end = unread.lineFeed(from: known, of: limit)
        // The last byte before the line feed may be a CR, which does not count.
        let bytes = UnsafeRawBufferPointer(rebasing: unread.front.prefix(end ?? unread.count))
        let length = bytes.last == UInt8(ascii: "\r") ? bytes.count - 1 : bytes.count
        // The error never gives the length, even if it is known: it must not depend on how the bytes were split on their way.
        guard length <= limit else { throw .frameTooLarge(length: nil, limit: limit) }
        guard let end else {
            known = unread.count
            return nil
        }
        known = 0
        let isBlank = leadingBlanks(in: bytes) == bytes.count
        let line = unread.take(end)
        unread.skip(1)
        return .message(isBlank ? .empty : line[0..<length])
    }

    /// The last line may lack its line feed.
    mutating func end(_ unread: inout UnreadBytes) { unread.append(Bytes("\n")) }

    func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool) {
        // Always copied, because the line feed stands behind it.
        buffer.append(message.memory)
        buffer.append(UInt8(ascii: "\n"))
    }
}
