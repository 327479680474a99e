// Frames that are lines: each ends with a line feed, or with CR LF.

struct LineFramer: Framer {
    private var line = PartialFrame()

    var isInsideFrame: Bool { !line.isEmpty }
    /// A last line need not have an end.
    var endOfLastFrame: Bytes? { Bytes("\n") }

    mutating func next(in queue: inout ByteQueue, limits: FrameLimits) throws(FramingError) -> Bytes? {
        // One more than the limit may be the CR before a line feed.
        let limit = limits.maximumFrameSize
        let room = limit == .max ? limit : limit + 1
        // Without its length, also where that is known: the answer must not depend on how the bytes came in.
        let tooLarge = FramingError.frameTooLarge(length: nil, limit: limit)
        while !queue.isEmpty {
            guard let line = try line.takeLine(from: &queue, room: room, otherwise: tooLarge) else { continue }
            let isBlank = line.withUnsafeBytes { leadingBlanks(in: $0) == $0.count }
            let text = withoutCarriageReturn(line) ?? line
            guard text.count <= limit else { throw tooLarge }
            return isBlank ? .empty : text
        }
        guard line.count <= limit || line.last == UInt8(ascii: "\r") else { throw tooLarge }
        return nil
    }

    static func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool) {
        // Copied, since the line feed stands behind it.
        buffer.append(message.memory)
        buffer.append(UInt8(ascii: "\n"))
    }
}

extension PartialFrame {
    /// Takes the bytes up to the next line feed, and the line feed, which is not returned.
    /// - Parameter room: how many bytes the line may have.
    /// - Returns: nil, with all bytes of the first chunk gathered, when there is no line feed in it.
    mutating func takeLine(
        from queue: inout ByteQueue, room: Int, otherwise error: FramingError
    ) throws(FramingError) -> Bytes? {
        let lineFeed = queue.withFront(firstLineFeed(in:))
        let length = lineFeed ?? queue.frontCount
        guard length <= room - count else { throw error }
        let piece = queue.take(length)
        guard lineFeed != nil else {
            if let piece { append(piece, of: room) }
            return nil
        }
        queue.skip(1)
        if isEmpty { return piece }
        if let piece { append(piece, of: room) }
        return finish()
    }
}
