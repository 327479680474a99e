// Bytes on their way out, in one piece so that one system call sends them all: written at the end, sent from the start.
// Behind that piece a large message may stand that is not copied for this.

internal import JSONCodec

/// `@unchecked Sendable`: the memory belongs to one buffer, and a buffer to one owner.
package struct SendBuffer: ~Copyable, @unchecked Sendable {
    /// Every connection keeps two of these, and most of them say little.
    private static let leastCapacity = 128

    /// Memory that is kept when the buffer runs empty; more is given back, so that one big reply is not paid for by every
    /// idle connection for ever.
    private let keptCapacity: Int
    private var memory: UnsafeMutableRawBufferPointer?
    private var start = 0
    private var end = 0
    /// What is left of a message that others may have as well, and that stands behind the rest.
    private var shared: Shared?

    package init(keptCapacity: Int = 16 << 10) { self.keptCapacity = keptCapacity }

    /// Elsewhere, since few of the many buffers ever have one.
    private final class Shared: Sendable {
        let bytes: Bytes

        init(_ bytes: Bytes) { self.bytes = bytes }
    }

    deinit { if let memory { LargeBlocks.deallocate(memory) } }

    package var count: Int { end - start + (shared?.bytes.count ?? 0) }
    package var isEmpty: Bool { start == end && shared == nil }

    /// What stands behind `bytes`, for as long as the buffer is left alone.
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

    /// A number, its highest byte first, and these bytes behind it.
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

    /// A message at the end, which is held and not copied for as long as nothing comes behind it.
    package mutating func append(shared message: Bytes) {
        reserve(0)
        if !message.isEmpty { shared = Shared(message) }
    }

    /// Forgets the first bytes: they have been sent.
    package mutating func removeFirst(_ count: Int) {
        let own = min(count, end - start)
        start += own
        if start < end { return }
        guard let left = shared?.bytes, count - own < left.count else { return removeAll() }
        (start, end) = (0, 0)
        shared = Shared(left[count - own..<left.count])
    }

    /// Empties the buffer and keeps nothing. Call this instead of assigning a new buffer, for the reason that
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

    /// Makes room for so many bytes at the end and answers where they go.
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
            // More has been sent than is left, so that each byte is moved once at most on average.
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

/// A message on its way into a buffer.
package enum OutgoingMessage {
    /// It is copied.
    case copied(UnsafeRawBufferPointer)
    /// It is large and may belong to others as well. It is held and not copied, if nothing has to stand behind it.
    case shared(Bytes)

    package var count: Int {
        switch self {
        case .copied(let bytes): bytes.count
        case .shared(let bytes): bytes.count
        }
    }

    /// The bytes, for as long as the message is kept.
    var memory: UnsafeRawBufferPointer {
        switch self {
        case .copied(let bytes): bytes
        case .shared(let bytes): bytes.memory
        }
    }
}
