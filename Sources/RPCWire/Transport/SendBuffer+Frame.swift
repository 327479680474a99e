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
            var header = "Content-Length: \(payload.count)\r\n\r\n"
            header.withUTF8 { append(UnsafeRawBufferPointer($0)) }
            append(payload)
        }
    }
}
