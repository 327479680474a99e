// Frames that begin with their length: four bytes, the highest first.

struct LengthFramer: Framer {
    /// The longest message that a connection can begin with: the first byte of a longer length is not 0x00, which tells the
    /// framing.
    private static let longestFirstLength = 0xFF_FFFF

    /// As much as has come of the next length.
    private var prefix: (value: UInt32, bytes: Int) = (0, 0)
    private var body: SizedBody?

    var isInsideFrame: Bool { body != nil || prefix.bytes > 0 }

    mutating func next(in queue: inout ByteQueue, limits: FrameLimits) throws(FramingError) -> Bytes? {
        // Nearly every frame.
        if !isInsideFrame, let frame = queue.takeWhole(upTo: limits.maximumFrameSize) { return frame }
        while !queue.isEmpty {
            if let frame = body?.next(in: &queue) {
                body = nil
                return frame
            }
            guard body == nil, let length = readLength(in: &queue) else { continue }
            guard length > 0 else { return .empty }
            body = SizedBody(length: try limits.checked(length))
        }
        return nil
    }

    /// Takes what has come of the length.
    /// - Returns: the length, once all of it has come.
    private mutating func readLength(in queue: inout ByteQueue) -> Int? {
        let taken = min(4 - prefix.bytes, queue.frontCount)
        queue.withFront { front in
            for byte in front.prefix(taken) { prefix.value = prefix.value << 8 | UInt32(byte) }
        }
        queue.skip(taken)
        prefix.bytes += taken
        guard prefix.bytes == 4 else { return nil }
        defer { prefix = (0, 0) }
        return Int(clamping: prefix.value)
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
