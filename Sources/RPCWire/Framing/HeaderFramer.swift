// Frames with headers in front of them: `Content-Length`, a blank line, then as many bytes.

struct HeaderFramer: Framer {
    /// As much as has come of the next headers: their lines, how many bytes those have, and the beginning of the next line.
    private var block = HeaderBlock()
    private var blockSize = 0
    private var line = PartialFrame()
    private var body: SizedBody?

    var isInsideFrame: Bool { body != nil || blockSize > 0 || !line.isEmpty }

    mutating func next(in queue: inout ByteQueue, limits: FrameLimits) throws(FramingError) -> Bytes? {
        while !queue.isEmpty {
            if let frame = body?.next(in: &queue) {
                body = nil
                return frame
            }
            guard body == nil, let length = try readHeader(in: &queue, limits) else { continue }
            (block, blockSize) = (HeaderBlock(), 0)
            guard length > 0 else { return .empty }
            body = SizedBody(length: length)
        }
        return nil
    }

    /// Reads one line of the headers.
    /// - Returns: the length of the body behind them, if the line was the last.
    private mutating func readHeader(in queue: inout ByteQueue, _ limits: FrameLimits) throws(FramingError) -> Int? {
        // The line feed counts as well.
        let room = limits.maximumHeaderBlock - blockSize - 1
        let tooLarge = FramingError.headerBlockTooLarge(limit: limits.maximumHeaderBlock)
        guard let line = try line.takeLine(from: &queue, room: room, otherwise: tooLarge) else { return nil }
        guard let text = withoutCarriageReturn(line) else { throw .header(.noCarriageReturn) }
        if text.isEmpty {
            guard let length = block.contentLength else { throw .header(.noContentLength) }
            return length
        }
        try text.withUnsafeBytes { (text) throws(FramingError) in try block.read(text, limits: limits) }
        blockSize += line.count + 1
        return nil
    }

    static func write(_ message: OutgoingMessage, into buffer: inout SendBuffer, isFirst: Bool) {
        var header = "Content-Length: \(message.count)\r\n\r\n"
        header.withUTF8 { buffer.append(UnsafeRawBufferPointer($0)) }
        switch message {
        case .copied(let bytes): buffer.append(bytes)
        case .shared(let bytes): buffer.append(shared: bytes)
        }
    }
}
