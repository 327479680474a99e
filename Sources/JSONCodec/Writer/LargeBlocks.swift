// Keeps large pieces of memory from one use to the next, for whoever in this process needs one next. What the system
// gives it has to clear and map page by page, and with messages of a mebibyte that costs more than reading and writing
// them; and a buffer that keeps its own keeps it for one connection, which may be idle for ever.

import Synchronization

/// Where the memory behind buffers comes from and goes to.
@usableFromInline
package enum LargeBlocks {
    /// What is larger comes from here; what is not, from the system. Buffers let go of what is larger when they are empty.
    @inlinable package static var least: Int { 64 << 10 }
    /// How much is kept at most, in the whole process, while nothing is larger than a quarter of it.
    package static let keptBytes = 16 << 20
    /// What is larger is not kept.
    package static let most = 9 << 20

    private static let shelf = BlockShelf(capacity: keptBytes, most: most)

    /// At least so many bytes, whatever stands in them.
    package static func allocate(_ count: Int) -> UnsafeMutableRawBufferPointer {
        guard count > least else { return .allocate(byteCount: count, alignment: 16) }
        if let kept = shelf.take(count) { return kept }
        // Whole steps, so that messages of about one size fit into each other's memory and have room for an end.
        return .allocate(byteCount: (count / least + 1) * least, alignment: 16)
    }

    package static func deallocate(_ block: UnsafeMutableRawBufferPointer) {
        if block.count > least { shelf.put(block) } else { block.deallocate() }
    }
}

/// Blocks that nobody uses, the oldest first. There is always room for four like the last one: a server that answers a
/// message with one as large has it as received and as written, and the same of the one before until that is known to have
/// arrived; with fewer kept than that, clearing and mapping the others with each call would take most of the time. Whoever
/// finds another thread at it does without: nobody waits.
///
/// `@unchecked Sendable`: all but `isTaken` is touched only by the thread that has set it.
final class BlockShelf: @unchecked Sendable {
    private let capacity: Int
    private let most: Int
    private let isTaken = Atomic(false)
    private var blocks: [UnsafeMutableRawBufferPointer] = []
    private var byteCount = 0

    init(capacity: Int, most: Int) {
        self.capacity = capacity
        self.most = most
    }

    deinit { for block in blocks { block.deallocate() } }

    /// The block that fits best, unless the half of it would do.
    func take(_ count: Int) -> UnsafeMutableRawBufferPointer? {
        guard begin() else { return nil }
        defer { end() }
        var best: (index: Int, count: Int)?
        for (index, block) in blocks.enumerated()
        where block.count >= count && block.count / 2 <= count && block.count <= best?.count ?? .max {
            best = (index, block.count)
        }
        guard let best else { return nil }
        byteCount -= best.count
        return blocks.remove(at: best.index)
    }

    /// Keeps a block that is not too large, and lets go of the oldest for it.
    func put(_ block: UnsafeMutableRawBufferPointer) {
        guard block.count <= most, begin() else { return block.deallocate() }
        defer { end() }
        blocks.append(block)
        byteCount += block.count
        let room = max(capacity, 4 * block.count)
        while byteCount > room {
            let oldest = blocks.removeFirst()
            byteCount -= oldest.count
            oldest.deallocate()
        }
    }

    private func begin() -> Bool { !isTaken.exchange(true, ordering: .acquiring) }
    private func end() { isTaken.store(false, ordering: .releasing) }
}
