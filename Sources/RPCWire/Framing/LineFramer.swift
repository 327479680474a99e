// Frames that are lines: each ends with a line feed, or with CR LF.

struct LineFramer: Framer {
    /// So many bytes of the next line have been looked at.
    private var known = 0

    mutating func next(in unread: inout UnreadBytes, limits: FrameLimits) throws(FramingError) -> Bytes? {
        let limit = limits.maximumFrameSize
        let end = unread.lineFeed(from: known, of: limit)
        // Of the bytes before the line feed the last may be a CR.
        let bytes = UnsafeRawBufferPointer(rebasing: unread.front.prefix(end ?? unread.count))
        let length = bytes.last == UInt8(ascii: "\r") ? bytes.count - 1 : bytes.count
        // Without its length, also where that is known: the answer must not depend on how the bytes came in.
        guard length <= limit else { throw .frameTooLarge(length: nil, limit: limit) }
        guard let end else {
            known = unread.count
            return nil
        }
        known = 0
        let isBlank = leadingBlanks(in: bytes) == bytes.count
        let line = unread.take(end)
        unread.skip(1)
        return isBlank ? .empty : line[0..<length]
    }

    static func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool) {
        // Copied, since the line feed stands behind it.
        buffer.append(message.memory)
        buffer.append(UInt8(ascii: "\n"))
    }
}
