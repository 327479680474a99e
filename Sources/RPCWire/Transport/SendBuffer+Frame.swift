// A message as it stands on the wire.

extension SendBuffer {
    package mutating func append(_ payload: UnsafeRawBufferPointer, framing: Framing) {
        reserve(payload.count + 64)
        switch framing {
        case .lengthPrefixed:
            withUnsafeBytes(of: UInt32(clamping: payload.count).bigEndian) { append($0) }
            append(payload)
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
