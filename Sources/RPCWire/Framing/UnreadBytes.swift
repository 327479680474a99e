// Bytes that have come and have not been cut into frames yet. What a framer looks at lies in one piece.

internal import JSONCodec

/// Chunks as they came, of which the first is the front. Framers look at the front and take frames from it as views. A frame that
/// came in several chunks is copied into one, once: memory for that is made as its bytes come, not as its sender announces them.
struct UnreadBytes: Sendable {
    /// How much room is made for an announced frame, as a multiple of what has come of it. With reads of 64 KiB one of the first
    /// two pieces makes the room for any frame up to the usual limit.
    private static let mostAhead = 32

    private var chunk: ByteChunk?
    /// Where the front lies in its chunk.
    private var start = 0
    private var end = 0
    /// Whether the chunk was made here, so that more may be written behind the front.
    private var isOwn = false
    private var rest: [Bytes] = []

    var isEmpty: Bool { start == end }

    /// How many bytes the front has. Only when it has none there are no others.
    var count: Int { end - start }

    /// The front, for as long as nothing is changed.
    var front: UnsafeRawBufferPointer {
        guard let chunk else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: chunk.memory[start..<end])
    }

    mutating func append(_ bytes: Bytes) {
        guard !bytes.isEmpty else { return }
        if isEmpty { begin(bytes) } else { rest.append(bytes) }
    }

    /// Removes and returns the first bytes, as a view. The front has as many.
    mutating func take(_ count: Int) -> Bytes {
        guard count > 0, let chunk else { return .empty }
        let taken = Bytes(chunk, start..<start + count)
        skip(count)
        return taken
    }

    /// Removes the first bytes. The front has as many.
    mutating func skip(_ count: Int) {
        start += count
        guard start == end else { return }
        if rest.isEmpty {
            // Nearly always. The chunk is let go as soon as it has been read.
            (chunk, start, end, isOwn) = (nil, 0, 0, false)
        } else {
            begin(rest.removeFirst())
        }
    }

    /// Brings so many bytes of an announced frame to the front.
    /// - Returns: false when there are not as many. All that there are lie in the front then, in memory of its own.
    @inline(__always)
    mutating func has(_ needed: Int) -> Bool { count >= needed || gather(needed, isAnnounced: true) }

    /// The offset of the first line feed in the front, to which all bytes up to it are brought.
    /// - Parameters:
    ///   - known: so many bytes are known to have none.
    ///   - most: the most bytes that the line may have.
    /// - Returns: nil when there is none. All bytes lie in the front then, in memory of its own.
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

    /// Brings so many bytes to the front, or as many as there are.
    /// - Parameter most: how many bytes the frame may have at most.
    @inline(never)
    @discardableResult
    private mutating func gather(_ needed: Int, of most: Int? = nil, isAnnounced: Bool) -> Bool {
        // A copy of this value shares the chunk, and a chunk has one filler.
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

    /// Copies the front into a chunk of its own.
    private mutating func move(to capacity: Int) {
        let larger = ByteChunk(capacity: capacity)
        larger.memory.copyMemory(from: front)
        (chunk, start, end, isOwn) = (larger, 0, count, true)
    }
}

/// The offset of the first line feed. Goes eight bytes at a time, since it looks at every byte of a line.
func firstLineFeed(in bytes: UnsafeRawBufferPointer) -> Int? {
    guard let base = bytes.baseAddress else { return nil }
    var at = 0
    while bytes.count &- at >= 8 {
        let word = EightBytes(base, at: at).word ^ EightBytes.ones &* 0x0A
        // The high bit of every byte that was a line feed; borrows mark false ones only above a true one.
        let marks = (word &- EightBytes.ones) & ~word & EightBytes.highBits
        if marks != 0 { return at &+ EightBytes.count(before: marks) }
        at &+= 8
    }
    return bytes[at...].firstIndex(of: 0x0A)
}

/// How many bytes of JSON's white space the text begins with.
func leadingBlanks(in bytes: UnsafeRawBufferPointer) -> Int {
    bytes.firstIndex { !($0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D) } ?? bytes.count
}
