// Chunks as they arrived, read from the front. The decoder takes views from it and never looks back.

struct ByteQueue: Sendable {
    private var front: Bytes?
    /// How much of `front` has been read.
    private var offset = 0
    /// What follows, in two stacks, so that a chunk is let go in constant time as soon as it is read.
    private var soon: [Bytes] = []
    private var later: [Bytes] = []

    var isEmpty: Bool { front == nil }

    /// How many unread bytes the first chunk has.
    var frontCount: Int { front.map { $0.count - offset } ?? 0 }

    mutating func append(_ bytes: Bytes) {
        guard !bytes.isEmpty else { return }
        if front == nil { front = bytes } else { later.append(bytes) }
    }

    /// Shows the unread bytes of the first chunk.
    func withFront<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        guard let front else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return front.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
    }

    /// Removes and returns the first bytes, as a view of the first chunk, which must have as many.
    mutating func take(_ count: Int) -> Bytes? {
        let taken = front.map { $0[offset..<offset + count] }
        skip(count)
        return taken
    }

    /// Removes and returns a frame behind its length of four bytes if all of it lies in the first chunk. Nil, with
    /// nothing removed, for any other, for an empty one, and for one that is longer than `limit`.
    mutating func takeWhole(upTo limit: Int) -> Bytes? {
        guard let front else { return nil }
        let rest = front.count - offset
        guard rest > 4 else { return nil }
        let length = front.withUnsafeBytes {
            Int(clamping: UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        guard length > 0, length <= limit, length <= rest - 4 else { return nil }
        let start = offset + 4
        let end = start + length
        if end < front.count { offset = end } else { skip(4 + length) }
        return Bytes(start: start, end: end, of: front)
    }

    mutating func skip(_ count: Int) {
        offset += count
        guard let front, offset >= front.count else { return }
        offset = 0
        // Nearly always: what has come has been looked at.
        guard !soon.isEmpty || !later.isEmpty else { return self.front = nil }
        if soon.isEmpty { swap(&soon, &later); soon.reverse() }
        self.front = soon.popLast()
    }

    mutating func removeAll() { self = ByteQueue() }
}
