// The growing memory behind `JSONOutput`. The encoder writes here through a raw pointer, so that a byte written costs
// no reference counting.

struct OutputBuffer {
    private(set) var base: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private(set) var capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 64)
        base = .allocate(capacity: self.capacity)
    }

    func deallocate() { base.deallocate() }

    /// Room for this many more bytes; returns where they go. `commit` makes them part of the output.
    @inline(__always)
    mutating func reserve(_ room: Int) -> UnsafeMutablePointer<UInt8> {
        if capacity &- count < room { grow(room) }
        return base + count
    }

    @inline(__always)
    mutating func commit(_ written: Int) { count &+= written }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1).pointee = byte
        count &+= 1
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        reserve(bytes.count).update(from: start, count: bytes.count)
        count &+= bytes.count
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(raw text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    mutating func truncate(to length: Int) {
        if length >= 0 && length < count { count = length }
    }

    @inline(never)
    private mutating func grow(_ room: Int) { move(to: max(capacity &* 2, count &+ room)) }

    /// Gives memory back when more than this is held; only for an empty buffer.
    mutating func shrink(to limit: Int) {
        if capacity > limit { move(to: limit) }
    }

    private mutating func move(to newCapacity: Int) {
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: newCapacity)
        moved.update(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = newCapacity
    }
}
