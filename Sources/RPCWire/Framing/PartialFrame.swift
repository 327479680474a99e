// The beginning of a frame or header line that arrived in pieces. Grows with the bytes that came, never with what a
// peer has announced.

struct PartialFrame: Sendable {
    private var chunk: ByteChunk?
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    var last: UInt8? { isEmpty ? nil : chunk?.memory[count - 1] }

    /// - Parameter length: the size of the whole, where it is known: no more room than this is ever taken.
    mutating func append(_ bytes: Bytes, of length: Int = .max) {
        let needed = count + bytes.count
        // A copy of this value shares the chunk, and a chunk has one filler.
        if needed > chunk?.memory.count ?? 0 || !isKnownUniquelyReferenced(&chunk) {
            grow(to: max(needed, min(max(needed * 2, 256), length)))
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
