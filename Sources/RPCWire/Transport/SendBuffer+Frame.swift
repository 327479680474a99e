// A message as it stands on the wire.

extension SendBuffer {
    package mutating func append(_ payload: UnsafeRawBufferPointer, framing: Framing) {
        switch framing {
        case .lengthPrefixed:
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
    package mutating func append(shared message: Bytes, framing: Framing) {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        switch framing {
        case .lengthPrefixed: append(UInt32(clamping: message.count), nothing)
        case .lines: return append(message.memory, framing: .lines)
        case .headers: appendHeaders(of: message.count)
        }
        append(shared: message)
    }

    private mutating func appendHeaders(of count: Int) {
        var header = "Content-Length: \(count)\r\n\r\n"
        header.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }
}
