// Frames that begin with their length: four bytes, the highest byte first.

struct LengthFramer: Framer {
    /// The longest message that may begin a connection. A longer one has a length whose first byte is not 0x00, and that byte
    /// tells the framing.
    private static let longestFirstLength = 0xFF_FFFF

    mutating func next(in unread: inout UnreadBytes, limits: FrameLimits) throws(FramingError) -> Frame? {
        guard unread.has(4) else { return nil }
        let length = try limits.checked(Int(clamping: UInt32(bigEndian: unread.front.loadUnaligned(as: UInt32.self))))
        guard unread.has(4 + length) else { return nil }
        return .message(unread.take(length, behind: 4))
    }

    /// - Precondition: the length of the message fits into four bytes. A session refuses much shorter messages than that.
    @inline(__always)
    func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        // Begin with an empty frame instead: its first byte is 0x00, and the receiver skips it.
        if isFirst, message.count > Self.longestFirstLength { buffer.append(0, nothing) }
        switch message {
        // A server of another protocol reads lines, and says what it is when it has one.
        case .copied(let bytes) where isFirst && bytes.count < Self.longestFirstLength:
            buffer.append(UInt32(bytes.count + 1), bytes)
            buffer.append(UInt8(ascii: "\n"))
        case .copied(let bytes): buffer.append(UInt32(clamping: bytes.count), bytes)
        case .shared(let bytes):
            buffer.append(UInt32(clamping: bytes.count), nothing)
            buffer.append(shared: bytes)
        }
    }
}
