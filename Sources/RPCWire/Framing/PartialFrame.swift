// A frame, or the beginning of one, that has come in pieces.

/// The rest of a frame whose length is known.
struct SizedBody: Sendable {
    private let length: Int
    private var partial = PartialFrame()

    init(length: Int) { self.length = length }

    /// Takes what has come of the frame.
    /// - Returns: the frame, once it is whole.
    mutating func next(in queue: inout ByteQueue) -> Bytes? {
        if partial.isEmpty, queue.frontCount >= length { return queue.take(length) }
        if let piece = queue.take(min(length - partial.count, queue.frontCount)) {
            partial.append(piece, of: length, isAnnounced: true)
        }
        return partial.count >= length ? partial.finish() : nil
    }
}

/// The beginning of a frame or header line that arrived in pieces. Grows with the bytes that came: a peer that announces much
/// gets room for a bounded multiple of what it has sent.
struct PartialFrame: Sendable {
    /// With reads of 64 KiB one of the first two pieces makes the room for any frame up to the usual limit.
    private static let mostAhead = 32

    private var chunk: ByteChunk?
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var last: UInt8? { isEmpty ? nil : chunk?.memory[count - 1] }

    /// - Parameters:
    ///   - length: the most that the whole can have.
    ///   - isAnnounced: it will have so much, unless the peer lies.
    mutating func append(_ bytes: Bytes, of length: Int, isAnnounced: Bool = false) {
        let needed = count + bytes.count
        // A copy of this value shares the chunk, and a chunk has one filler.
        if needed > chunk?.memory.count ?? 0 || !isKnownUniquelyReferenced(&chunk) {
            grow(to: max(needed, min(max(needed * (isAnnounced ? Self.mostAhead : 2), 256), length)))
        }
        guard let chunk else { return }
        bytes.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: chunk.memory[count..<needed]).copyMemory(from: source)
        }
        count = needed
    }

    /// Hands over what was gathered and is empty again.
    mutating func finish() -> Bytes? {
        defer { self = PartialFrame() }
        return chunk.map { Bytes($0, 0..<count) }
    }

    private mutating func grow(to capacity: Int) {
        let larger = ByteChunk(capacity: capacity)
        if let chunk {
            larger.memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: chunk.memory[..<count]))
        }
        chunk = larger
    }
}
