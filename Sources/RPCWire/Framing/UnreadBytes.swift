// Received bytes that are not cut into frames yet. The part that a framer reads lies in one piece of memory.

internal import JSONCodec

/// Received chunks. The first one is the front: framers read it, and take frames from it as views. A frame that came in several
/// chunks is copied into one chunk, once. The memory for it grows with the bytes that came, not with the length that was
/// announced.
package struct UnreadBytes: Sendable {
    /// How much room is made for an announced frame, as a multiple of the bytes that have come. With reads of 64 KiB, one of
    /// the first two reads makes the room for any frame up to the usual limit.
    private static let mostAhead = 32

    private var chunk: ByteChunk?
    /// The range of the front in its chunk.
    private var start = 0
    private var end = 0
    /// Whether this value has made the chunk. Then bytes may be written behind the front.
    private var isOwn = false
    private var rest: [Bytes] = []

    var isEmpty: Bool { start == end }

    /// How many bytes the front has. 0 only when no bytes are left at all.
    var count: Int { end - start }

    /// About how much memory the bytes take. A chunk of this value's own may have room for more.
    var memory: Int { max(count, isOwn ? chunk?.memory.count ?? 0 : 0) + rest.reduce(0) { $0 + $1.count } }

    /// The bytes of the front. Valid until this value is changed.
    var front: UnsafeRawBufferPointer {
        guard let chunk else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: chunk.memory[start..<end])
    }

    mutating func append(_ bytes: Bytes) {
        guard !bytes.isEmpty else { return }
        if isEmpty { begin(bytes) } else { rest.append(bytes) }
    }

    /// Removes the first bytes of the front, and returns them without their header as a view. The front must have that many.
    mutating func take(_ count: Int, behind header: Int = 0) -> Bytes {
        let chunk = chunk
        let first = start + header
        skip(header + count)
        guard count > 0, let chunk else { return .empty }
        return Bytes(chunk, first..<first + count)
    }

    /// Removes the first bytes of the front, which must have that many.
    @inline(__always)
    mutating func skip(_ count: Int) {
        start += count
        guard start == end else { return }
        if rest.isEmpty {
            // The usual case: the chunk has been read, so it is released at once.
            (chunk, start, end, isOwn) = (nil, 0, 0, false)
        } else {
            begin(rest.removeFirst())
        }
    }

    /// Brings the first `needed` bytes of an announced frame to the front.
    /// - Returns: false when fewer bytes have come. Then all of them are in the front, in a chunk of this value's own.
    @inline(__always)
    mutating func has(_ needed: Int) -> Bool { count >= needed || gather(needed, isAnnounced: true) }

    /// Returns the offset of the first line feed, after bringing all bytes up to it to the front.
    /// - Parameters:
    ///   - known: the first `known` bytes of the front have no line feed.
    ///   - most: how many bytes the line may have at most.
    /// - Returns: nil when no line feed has come. Then all bytes are in the front, in a chunk of this value's own.
    mutating func lineFeed(from known: Int, of most: Int) -> Int? {
        if let offset = firstLineFeed(in: UnsafeRawBufferPointer(rebasing: front[known...])) { return known + offset }
        while let next = rest.first {
            let before = count
            let offset = next.withUnsafeBytes(firstLineFeed)
            gather(before + (offset.map { $0 + 1 } ?? next.count), of: most, isAnnounced: false)
            if let offset { return before + offset }
        }
        gather(count + 1, of: most, isAnnounced: false)
        return nil
    }

    private mutating func begin(_ bytes: Bytes) {
        (chunk, start, end, isOwn) = (bytes.chunk, bytes.range.lowerBound, bytes.range.upperBound, false)
    }

    /// Brings `needed` bytes to the front, or as many as have come.
    /// - Parameter most: how many bytes the frame may have at most.
    @inline(never)
    @discardableResult
    private mutating func gather(_ needed: Int, of most: Int? = nil, isAnnounced: Bool) -> Bool {
        // A copy of this value shares the chunk, and only one owner may fill a chunk.
        let room = isOwn && isKnownUniquelyReferenced(&chunk) ? (chunk?.memory.count ?? 0) - start : 0
        var coming = count
        for piece in rest where coming < needed { coming = min(needed, coming + piece.count) }
        if coming > room {
            let ahead = max(coming * (isAnnounced ? Self.mostAhead : 2), 256)
            move(to: max(coming, min(ahead, most ?? needed)))
        }
        guard let chunk else { return false }
        while count < needed, let next = rest.first {
            let piece = next[0..<needed - count]
            piece.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: chunk.memory[end...]).copyMemory(from: $0) }
            end += piece.count
            if piece.count == next.count { rest.removeFirst() } else { rest[0] = next[piece.count..<next.count] }
        }
        return count >= needed
    }

    /// Copies the front into a new chunk of this value's own.
    private mutating func move(to capacity: Int) {
        let larger = ByteChunk(capacity: capacity)
        larger.memory.copyMemory(from: front)
        (chunk, start, end, isOwn) = (larger, 0, count, true)
    }
}

/// Returns the offset of the first line feed. Compares eight bytes at a time, since it looks at every byte of a line.
func firstLineFeed(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    var at = 0
    while bytes.count &- at >= 8 {
        let word = EightBytes(base, at: at).word ^ EightBytes.ones &* 0x0A
        // Sets the high bit for every byte that is a line feed. A borrow can set a wrong bit, but only above a right one.
        let marks = (word &- EightBytes.ones) & ~word & EightBytes.highBits
        if marks != 0 { return at &+ EightBytes.count(before: marks) }
        at &+= 8
    }
    return bytes[at...].firstIndex(of: 0x0A)
}

/// How many bytes of JSON white space the text begins with.
func leadingBlanks(in bytes: UnsafeRawBufferPointer) -> Int {
    bytes.firstIndex { !($0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D) } ?? bytes.count
}
