// Puts around a message what its framing asks for. The outgoing queue of a stream writes the prefix and the suffix in
// place; everybody else appends to an array.

package enum FrameEncoder {
    /// Room for the longest prefix.
    package static let maximumPrefix = 40

    /// The most bytes that a 4-byte length can announce. The session refuses to send long before.
    package static let maximumPayload = Int(clamping: UInt32.max)

    /// Writes what stands before a message of `count` bytes and returns how many bytes that took.
    /// - Parameter target: at least `maximumPrefix` bytes.
    package static func writePrefix(_ count: Int, framing: Framing, into target: UnsafeMutableRawBufferPointer) -> Int {
        switch framing {
        case .lines: return 0
        case .lengthPrefixed:
            target.storeBytes(of: UInt32(clamping: count).bigEndian, as: UInt32.self)
            return 4
        case .headers:
            // Exactly this spelling: some readers know no other.
            let name: StaticString = "Content-Length: "
            var end = name.utf8CodeUnitCount
            target.copyMemory(from: UnsafeRawBufferPointer(start: name.utf8Start, count: end))
            for text in [String(count), "\r\n\r\n"] {
                for byte in text.utf8 {
                    target[end] = byte
                    end += 1
                }
            }
            return end
        }
    }

    /// What stands behind a message, if anything.
    package static func suffix(_ framing: Framing) -> UInt8? {
        framing == .lines ? 0x0A : nil
    }

    /// Appends a whole frame.
    /// - Parameter payload: for lines it must not hold a line feed; JSON text that we write never does.
    package static func write(_ payload: UnsafeRawBufferPointer, framing: Framing, into sink: inout [UInt8]) {
        withUnsafeTemporaryAllocation(byteCount: maximumPrefix, alignment: 4) { prefix in
            let count = writePrefix(payload.count, framing: framing, into: prefix)
            sink.append(contentsOf: prefix[..<count])
        }
        sink.append(contentsOf: payload)
        if let suffix = suffix(framing) { sink.append(suffix) }
    }
}
