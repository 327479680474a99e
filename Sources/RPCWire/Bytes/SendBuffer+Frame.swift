// A message as it stands on the wire.

extension SendBuffer {
    /// Appends one whole frame.
    /// - Parameters:
    ///   - payload: for lines it must not hold a line feed; JSON text that we write never does. It has at most as many bytes
    ///     as four bytes can tell; a session refuses to send long before that.
    ///   - isFirst: whether the frame tells the other end the framing: it begins a connection that this end has dialled.
    package mutating func append(_ payload: UnsafeRawBufferPointer, framing: Framing, isFirst: Bool = false) {
        switch framing {
        case .lengthPrefixed:
            if isFirst { beginLengthPrefixed(by: payload.count) }
            append(UInt32(clamping: payload.count), payload)
        case .lines:
            append(payload)
            append(UInt8(ascii: "\n"))
        case .headers:
            appendHeaders(of: payload.count)
            append(payload)
        }
    }

    /// The same for a message that others have as well. It is copied where its framing wants something behind it.
    package mutating func append(shared message: Bytes, framing: Framing, isFirst: Bool = false) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        switch framing {
        case .lengthPrefixed:
            if isFirst { beginLengthPrefixed(by: message.count) }
            append(UInt32(clamping: message.count), nothing)
        case .lines: return append(message.memory, framing: .lines)
        case .headers: appendHeaders(of: message.count)
        }
        append(shared: message)
    }

    /// Writes an empty frame before a first message of 16 MiB or more. The first byte of a connection tells the framing, and
    /// the length of such a message does not begin with `0x00`. An empty frame does, and the receiver skips it.
    private mutating func beginLengthPrefixed(by count: Int) {
        guard count > Framing.longestFirstLength else { return }
        append(0, UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private mutating func appendHeaders(of count: Int) {
        var header = "Content-Length: \(count)\r\n\r\n"
        header.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
}
