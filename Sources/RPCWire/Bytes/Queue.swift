// First in, first out: one queue for all that waits its turn.

/// A ring in memory of its own. Elements are moved into it and out of it, never copied.
///
/// `@unchecked Sendable`: the memory belongs to one queue, and a queue to one owner.
@usableFromInline
package struct Queue<Element: ~Copyable>: ~Copyable, @unchecked Sendable {
    @usableFromInline var ring = UnsafeMutableBufferPointer<Element>(start: nil, count: 0)
    @usableFromInline var head = 0
    @usableFromInline package internal(set) var count = 0

    @inlinable package init() {}

    @inlinable
    deinit {
        for index in 0..<count { (ring.baseAddress.unsafelyUnwrapped + place(index)).deinitialize(count: 1) }
        ring.deallocate()
    }

    @inlinable @inline(__always)
    package var isEmpty: Bool { count == 0 }

    /// The element that has so many before it. There must be one: nothing is checked here.
    @inlinable
    package subscript(index: Int) -> Element {
        @inline(__always)
        unsafeAddress { UnsafePointer(ring.baseAddress.unsafelyUnwrapped + place(index)) }
        @inline(__always)
        unsafeMutableAddress { ring.baseAddress.unsafelyUnwrapped + place(index) }
    }

    @inlinable @inline(__always)
    package mutating func append(_ element: consuming Element) {
        if count == ring.count { move(to: Swift.max(2, ring.count * 2)) }
        (ring.baseAddress.unsafelyUnwrapped + place(count)).initialize(to: element)
        count &+= 1
    }

    @inlinable @inline(__always)
    package mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let first = ring.baseAddress.unsafelyUnwrapped + head
        forgetFirst()
        return first.move()
    }

    /// Calls the body with the memory of the first element, which the body moves elsewhere. False when there is none.
    @inlinable @inline(__always)
    package mutating func moveFirst(_ body: (UnsafeMutablePointer<Element>) -> Void) -> Bool {
        guard count > 0 else { return false }
        body(ring.baseAddress.unsafelyUnwrapped + head)
        forgetFirst()
        return true
    }

    /// Removes all elements, and gives the memory back.
    @inlinable
    package mutating func removeAll() {
        while let element = popFirst() { _ = consume element }
        letGo(beyond: 0)
    }

    /// Gives memory back, if the queue is empty and has room for more than this.
    @inlinable
    package mutating func letGo(beyond most: Int) {
        if count == 0, ring.count > most { move(to: 0) }
    }

    @inlinable @inline(__always)
    mutating func forgetFirst() {
        head = place(1)
        count &-= 1
    }

    /// The position in the ring. The capacity is a power of two, so the mask gives the remainder.
    @inlinable @inline(__always)
    func place(_ index: Int) -> Int { (head &+ index) & (ring.count &- 1) }

    @usableFromInline
    mutating func move(to capacity: Int) {
        var other = UnsafeMutableBufferPointer<Element>(start: nil, count: 0)
        // Even a piece of memory without a byte would take a block.
        if capacity > 0 { other = .allocate(capacity: capacity) }
        for index in 0..<count {
            (other.baseAddress.unsafelyUnwrapped + index).moveInitialize(
                from: ring.baseAddress.unsafelyUnwrapped + place(index), count: 1)
        }
        ring.deallocate()
        (ring, head) = (other, 0)
    }
}
