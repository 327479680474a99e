// What a loop has to do next, in the order it came: a ring that grows to what was ever waiting at once.

/// Task jobs, guests and submitted work share one queue; timers set from another thread travel to the loop in it.
enum LoopItem {
    case job(UnownedJob)
    case guest(UnownedJob)
    case work(@Sendable () -> Void)
    case timer(ScheduledTimer)

    var isGuest: Bool { if case .guest = self { true } else { false } }
}

struct RunQueue {
    private var ring: ContiguousArray<LoopItem?> = ContiguousArray(repeating: nil, count: 64)
    private var first = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ item: consuming LoopItem) {
        if count == ring.count { grow() }
        // The capacity is a power of two, so the mask is the remainder.
        let place = (first + count) & (ring.count - 1)
        // Memory that holds nothing: no one has to be let go.
        ring.withUnsafeMutableBufferPointer { $0.initializeElement(at: place, to: item) }
        count += 1
    }

    mutating func popFirst() -> LoopItem? {
        guard count > 0 else { return nil }
        // Moved: a copy would be counted.
        let item = ring.withUnsafeMutableBufferPointer { ring in
            let item = ring.moveElement(from: first)
            ring.initializeElement(at: first, to: nil)
            return item
        }
        first = (first + 1) & (ring.count - 1)
        count -= 1
        return item
    }

    private mutating func grow() {
        var larger = ContiguousArray<LoopItem?>()
        larger.reserveCapacity(ring.count * 2)
        larger.append(contentsOf: ring[first...])
        larger.append(contentsOf: ring[..<first])
        larger.append(contentsOf: repeatElement(nil, count: ring.count))
        ring = larger
        first = 0
    }
}
