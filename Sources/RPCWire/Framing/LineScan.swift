// Looks for line ends and white space in raw bytes. The only part of the framing that touches every byte of a message,
// so it goes eight at a time.

/// The offset of the first line feed.
func firstLineFeed(in bytes: UnsafeRawBufferPointer) -> Int? {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highBits: UInt64 = 0x8080_8080_8080_8080
    let lineFeeds = ones &* 0x0A
    var at = 0
    while bytes.count &- at >= 8 {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self)) ^ lineFeeds
        // The high bit of every byte that was a line feed; borrows mark false ones only above a true one.
        let marks = (word &- ones) & ~word & highBits
        if marks != 0 { return at &+ marks.trailingZeroBitCount &>> 3 }
        at &+= 8
    }
    return bytes[at...].firstIndex(of: 0x0A)
}

/// How many bytes of JSON's white space the text begins with.
func leadingBlanks(in bytes: UnsafeRawBufferPointer) -> Int {
    bytes.firstIndex { !($0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D) } ?? bytes.count
}

/// The line without the CR at its end; nil when there is none.
func withoutCarriageReturn(_ line: Bytes) -> Bytes? {
    line.withUnsafeBytes { $0.last } == UInt8(ascii: "\r") ? line[0..<line.count - 1] : nil
}
