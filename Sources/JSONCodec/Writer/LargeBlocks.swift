// Keeps large blocks of memory for later uses, for the whole process. The system clears and maps new memory page by page, which
// costs more than reading and writing a message of a mebibyte. A buffer that kept its own memory would keep it for one
// connection, which may be idle for ever.

/// Allocates and frees the memory of buffers.
@usableFromInline
package enum LargeBlocks {
    /// Blocks above this size are kept here for reuse. A buffer gives such a block back when it is empty.
    @inlinable package static var smallestKept: Int { 64 << 10 }
    /// How much is kept at most in the whole process, as long as no block is larger than a quarter of it.
    package static let keptBytes = 16 << 20
    /// Larger blocks are not kept.
    package static let most = 9 << 20

    private static let shelf = BlockShelf(capacity: keptBytes, most: most)

    /// Returns a block of at least this many bytes, not cleared.
    package static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        guard count > smallestKept else { return .allocate(byteCount: count, alignment: 16) }
        if let kept = shelf.take(count) { return kept }
        // The size is a multiple of a step, so that messages of similar sizes can use each other's blocks.
        return .allocate(byteCount: (count / smallestKept + 1) * smallestKept, alignment: 16)
    }

    package static func deallocate(_ block: UnsafeMutableRawBufferPointer) {
        if block.count > smallestKept { shelf.put(block) } else { block.deallocate() }
    }
}

/// Blocks that are not in use. A thread does not wait for another one's access: it continues without the shelf.
///
/// There is always room for four blocks of the last one's size. A server needs two for a large request and its answer. It has
/// two more until the answer before is acknowledged.
final class BlockShelf: Sendable {
    private let capacity: Int
    private let most: Int
    /// The blocks, the oldest first.
    private let blocks = ShortLock<[(address: UInt, count: Int)]>([])

    init(capacity: Int, most: Int) {
        self.capacity = capacity
        self.most = most
    }

    deinit { blocks.withLock { for (address, count) in $0 { Self.block(address, count)?.deallocate() } } }

    /// Takes the block that fits best, unless half of it would be enough.
    func take(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        let found = blocks.withLockIfAvailable { blocks -> (address: UInt, count: Int)? in
            var best: Int?
            for (index, block) in blocks.enumerated()
            where block.count >= count && block.count / 2 <= count
                && block.count <= best.map({ blocks[$0].count }) ?? .max
            {
                best = index
            }
            return best.map { blocks.remove(at: $0) }
        }
        return found.flatMap { $0 }.flatMap { Self.block($0.address, $0.count) }
    }

    /// Keeps a block that is not too large. Removes the oldest blocks if there is no room.
    func put(_ block: UnsafeMutableRawBufferPointer) {
        let (address, count) = (UInt(bitPattern: block.baseAddress), block.count)
        let (capacity, most) = (capacity, most)
        let isKept = blocks.withLockIfAvailable { blocks in
            guard count <= most else { return false }
            blocks.append((address, count))
            var surplus = blocks.reduce(0) { $0 + $1.count } - max(capacity, 4 * count)
            while surplus > 0 {
                let oldest = blocks.removeFirst()
                surplus -= oldest.count
                Self.block(oldest.address, oldest.count)?.deallocate()
            }
            return true
        }
        if isKept != true { block.deallocate() }
    }

    private static func block(_ address: UInt, _ count: Int) -> UnsafeMutableRawBufferPointer? {
        UnsafeMutableRawPointer(bitPattern: address).map { UnsafeMutableRawBufferPointer(start: $0, count: count) }
    }
}
