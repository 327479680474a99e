// Frames that begin with their length: four bytes, the highest first.

struct LengthFramer: Framer {
    /// The longest message that a connection can begin with: the first byte of a longer length is not 0x00, which tells the
    /// framing.
    private static let longestFirstLength = 0xFF_FFFF

    mutating func next(in unread: inout UnreadBytes, limits: FrameLimits) throws(FramingError) -> Bytes? {
        guard unread.has(4) else { return nil }
        let length = try limits.checked(Int(clamping: UInt32(bigEndian: unread.front.loadUnaligned(as: UInt32.self))))
        guard unread.has(4 + length) else { return nil }
        unread.skip(4)
        return unread.take(length)
    }

    /// The message has at most as many bytes as four bytes can tell; a session refuses to send long before that.
    static func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        // An empty frame, which the receiver skips, begins with 0x00.
        if isFirst, message.count > longestFirstLength { buffer.append(0, nothing) }
        switch message {
        case .copied(let bytes): buffer.append(UInt32(clamping: bytes.count), bytes)
        case .shared(let bytes):
            buffer.append(UInt32(clamping: bytes.count), nothing)
            buffer.append(shared: bytes)
        }
    }
}
