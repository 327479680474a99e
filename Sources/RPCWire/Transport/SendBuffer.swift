// Bytes on their way out, in one piece so that one system call sends them all: written at the end, sent from the start.

/// `@unchecked Sendable`: the memory belongs to one buffer, and a buffer to one owner.
package struct SendBuffer: ~Copyable, @unchecked Sendable {
    /// Memory that is kept when a buffer runs empty; more is given back, so that one big reply is not paid for by
    /// every idle connection for ever.
    private static let keptCapacity = 16 << 10
    /// Every connection keeps two of these, and most of them say little.
    private static let leastCapacity = 128

    private var memory: UnsafeMutableRawBufferPointer?
    private var start = 0
    private var end = 0

    package init() {}

    deinit { memory?.deallocate() }

    package var count: Int { end - start }
    package var isEmpty: Bool { start == end }

    package var bytes: UnsafeRawBufferPointer {
        guard let memory, start < end else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: memory[start..<end])
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        let room = reserve(bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: room[..<bytes.count]).copyMemory(from: bytes)
        end += bytes.count
    }

    package mutating func append(_ byte: UInt8) {
        reserve(1)[0] = byte
        end += 1
    }

    /// Forgets the first bytes: they have been sent.
    package mutating func removeFirst(_ count: Int) {
        start += min(count, self.count)
        if start == end { removeAll() }
    }

    package mutating func removeAll() {
        (start, end) = (0, 0)
        if let memory, memory.count > SendBuffer.keptCapacity {
            memory.deallocate()
            self.memory = nil
        }
    }

    /// Makes room for so many bytes at the end and answers the free part.
    @discardableResult
    package mutating func reserve(_ extra: Int) -> UnsafeMutableRawBufferPointer {
        if let memory, memory.count - end >= extra { return UnsafeMutableRawBufferPointer(rebasing: memory[end...]) }
        var capacity = max(SendBuffer.leastCapacity, memory?.count ?? 0)
        while capacity < count + extra { capacity *= 2 }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: bytes)
        memory?.deallocate()
        memory = larger
        (start, end) = (0, count)
        return UnsafeMutableRawBufferPointer(rebasing: larger[end...])
    }
}
