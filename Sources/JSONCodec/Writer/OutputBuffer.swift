// The growing memory of `JSONOutput`. The encoder writes through a raw pointer to it, so that writing a byte counts no
// references.

@usableFromInline
struct OutputBuffer {
    @usableFromInline private(set) var base: UnsafeMutablePointer<UInt8>
    @usableFromInline private(set) var count = 0
    @usableFromInline private(set) var capacity: Int

    init(capacity: Int) { (base, self.capacity) = Self.allocate(capacity) }

    func deallocate() { LargeBlocks.deallocate(UnsafeMutableRawBufferPointer(start: base, count: capacity)) }

    /// Makes room for this many more bytes and returns their place. `commit` makes them part of the output.
    @inlinable @inline(__always)
    mutating func reserve(_ room: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity &- count < room { grow(room) }
        return base + count
    }

    @inlinable @inline(__always)
    mutating func commit(_ written: Int) { count &+= written }

    @inlinable @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1).pointee = byte
        commit(1)
    }

    @inlinable @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count).update(from: start, count: bytes.count)
        commit(bytes.count)
    }

    @inlinable @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(raw text: String) {
        // Works without a copy for any string that Swift has made itself.
        if text.utf8.withContiguousStorageIfAvailable({ append($0) }) == nil { append(copyOf: text) }
    }

    @inline(never)
    private mutating func append(copyOf text: String) {
        var copy = text
        copy.withUTF8 { append($0) }
    }

    mutating func truncate(to length: Int) {
        if length >= 0 && length < count { count = length }
    }

    /// Removes a range. The bytes behind it move up.
    mutating func remove(_ range: Range<Int>) {
        (base + range.lowerBound).update(from: base + range.upperBound, count: count &- range.upperBound)
        count &-= range.count
    }

    @usableFromInline @inline(never)
    mutating func grow(_ room: Int) { move(to: max(capacity &* 2, count &+ room)) }

    /// Frees the memory if it is large. Call it for an empty buffer only.
    @inline(__always)
    mutating func letGoOfMuch() {
        if capacity > LargeBlocks.smallestKept { move(to: Self.leastCapacity) }
    }

    mutating func takeMemory() -> UnsafeMutableRawBufferPointer {
        let memory = UnsafeMutableRawBufferPointer(start: base, count: capacity)
        self = OutputBuffer(capacity: Self.leastCapacity)
        return memory
    }

    @inline(never)
    private mutating func move(to newCapacity: Int) {
        let (moved, capacity) = Self.allocate(newCapacity)
        moved.update(from: base, count: count)
        deallocate()
        (base, self.capacity) = (moved, capacity)
    }

    private static let leastCapacity = 64

    private static func allocate(_ capacity: Int) -> (UnsafeMutablePointer<UInt8>, Int) {
        let block = LargeBlocks.allocate(max(capacity, leastCapacity))
        return (block.assumingMemoryBound(to: UInt8.self).baseAddress.unsafelyUnwrapped, block.count)
    }
}
