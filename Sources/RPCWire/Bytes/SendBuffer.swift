// A queue of bytes to send. They are in one piece of memory, so that one system call sends all of them. A large message may
// stand behind that piece; it is not copied into it.

internal import JSONCodec

/// `@unchecked Sendable`: the memory belongs to one buffer, and the buffer has one owner.
@usableFromInline
package struct SendBuffer: ~Copyable, @unchecked Sendable {
    /// Small, because every connection keeps two buffers, and most connections send little.
    private static let leastCapacity = 128

    /// How much memory an empty buffer keeps. It gives back more than this, so that one big reply does not cost every idle
    /// connection memory for ever.
    private let keptCapacity: Int
    private var memory: UnsafeMutableRawBufferPointer?
    @usableFromInline private(set) var start = 0
    @usableFromInline private(set) var end = 0
    /// The unsent part of a large message, which other owners may hold too. It stands behind `bytes`.
    @usableFromInline private(set) var shared: Shared?

    package init(keptCapacity: Int = 16 << 10) { self.keptCapacity = keptCapacity }

    /// In a separate object, because few of the many buffers ever hold such a message.
    @usableFromInline
    final class Shared: Sendable {
        @usableFromInline let bytes: Bytes

        init(_ bytes: Bytes) { self.bytes = bytes }
    }

    deinit { if let memory { LargeBlocks.deallocate(memory) } }

    @inlinable package var count: Int { end - start + (shared?.bytes.count ?? 0) }
    package var isEmpty: Bool { start == end && shared == nil }
    /// How much memory the buffer has; for tests.
    var room: Int { memory?.count ?? 0 }

    /// The bytes that stand behind `bytes`. Valid until the buffer is changed.
    package var sharedBytes: UnsafeRawBufferPointer {
        shared?.bytes.memory ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    package var bytes: UnsafeRawBufferPointer {
        guard let memory, start < end else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: memory[start..<end])
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, !bytes.isEmpty else { return }
        reserve(bytes.count).copyMemory(from: source, byteCount: bytes.count)
        end += bytes.count
    }

    /// Appends a number, with its highest byte first, and the bytes behind it.
    @inline(__always)
    package mutating func append(_ number: UInt32, _ bytes: UnsafeRawBufferPointer) {
        let room = reserve(4 + bytes.count)
        room.storeBytes(of: number.bigEndian, as: UInt32.self)
        if let source = bytes.baseAddress { (room + 4).copyMemory(from: source, byteCount: bytes.count) }
        end += 4 + bytes.count
    }

    package mutating func append(_ byte: UInt8) {
        reserve(1).storeBytes(of: byte, as: UInt8.self)
        end += 1
    }

    /// Appends a message without copying it. The message is copied later if something is appended behind it.
    package mutating func append(shared message: Bytes) {
        reserve(0)
        if !message.isEmpty { shared = Shared(message) }
    }

    /// Removes the first bytes, because they have been sent.
    package mutating func removeFirst(_ count: Int) {
        let own = min(count, end - start)
        start += own
        if start < end { return }
        guard let left = shared?.bytes, count - own < left.count else { return removeAll() }
        (start, end) = (0, 0)
        shared = Shared(left[count - own..<left.count])
    }

    /// Copies the first bytes, and removes them.
    package mutating func takeFirst(_ count: Int) -> Bytes {
        let chunk = ByteChunk(capacity: count)
        let own = min(count, end - start)
        chunk.memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<own]))
        UnsafeMutableRawBufferPointer(rebasing: chunk.memory[own...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: sharedBytes[..<(count - own)]))
        removeFirst(count)
        return Bytes(chunk, 0..<count)
    }

    /// Empties the buffer and gives all memory back. Call this instead of assigning a new buffer, for the reason that
    /// `KeptMessages.removeAll` gives.
    package mutating func letGo() {
        (start, end) = (0, 0)
        shared = nil
        if let memory { LargeBlocks.deallocate(memory) }
        memory = nil
    }

    package mutating func removeAll() {
        (start, end) = (0, 0)
        if shared != nil { shared = nil }
        if let memory, memory.count > keptCapacity {
            LargeBlocks.deallocate(memory)
            self.memory = nil
        }
    }

    /// Makes room for `extra` bytes at the end, and returns where they go.
    @discardableResult
    @inline(__always)
    private mutating func reserve(_ extra: Int) -> UnsafeMutableRawPointer {
        if shared == nil, let memory, memory.count - end >= extra, let base = memory.baseAddress { return base + end }
        return makeRoom(extra)
    }

    @inline(never)
    private mutating func makeRoom(_ extra: Int) -> UnsafeMutableRawPointer {
        if let message = shared.take() {
            withExtendedLifetime(message) { append(message.bytes.memory) }
            return reserve(extra)
        }
        let count = end - start
        if let memory, start >= count, memory.count - count >= extra {
            // More has been sent than is left. So each byte is moved at most once on average.
            memory.copyMemory(from: bytes)
            (start, end) = (0, count)
            return reserve(extra)
        }
        let larger = LargeBlocks.allocate(max(Self.leastCapacity, count + extra, 2 * (memory?.count ?? 0)))
        larger.copyMemory(from: bytes)
        if let memory { LargeBlocks.deallocate(memory) }
        memory = larger
        (start, end) = (0, count)
        return reserve(extra)
    }
}

/// A message that is about to be put into a buffer.
package enum OutgoingMessage {
    /// The buffer copies the bytes.
    case copied(UnsafeRawBufferPointer)
    /// A large message, which other owners may hold too. The buffer holds it without a copy, unless bytes follow behind it.
    case shared(Bytes)

    package var count: Int {
        switch self {
        case .copied(let bytes): bytes.count
        case .shared(let bytes): bytes.count
        }
    }

    /// The bytes. Valid only while the message is kept.
    var memory: UnsafeRawBufferPointer {
        switch self {
        case .copied(let bytes): bytes
        case .shared(let bytes): bytes.memory
        }
    }
}
