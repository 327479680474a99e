// Call numbers to slots. A general dictionary spends more on hashing than all else in a reply's path; call numbers
// are handed out one after the other, and one multiplication sets such keys as far apart as can be.

/// A map from positive numbers to slots, with open addressing.
@usableFromInline
package struct NumberTable {
    private struct Place {
        /// 0 marks an empty one, so keys are positive.
        var key: Int64 = 0
        var slot = 0
    }

    private var places: [Place] = []
    private var mask = 0
    @usableFromInline package private(set) var count = 0

    /// Takes no memory before there is something in it.
    package init() {}

    package mutating func insert(_ key: Int64, _ slot: Int) {
        guard key > 0 else { return }
        if count * 2 >= mask { grow() }
        place(key, slot)
        count += 1
    }

    package func slot(of key: Int64) -> Int? {
        find(key).map { places[$0].slot }
    }

    /// Takes the key out and returns its slot, or nil when it is not there.
    package mutating func remove(_ key: Int64) -> Int? {
        guard let index = find(key) else { return nil }
        let slot = places[index].slot
        closeGap(at: index)
        count -= 1
        return slot
    }

    private func find(_ key: Int64) -> Int? {
        guard key > 0, count > 0 else { return nil }
        var index = home(key)
        while places[index].key != key {
            if places[index].key == 0 { return nil }
            index = (index + 1) & mask
        }
        return index
    }

    /// The golden ratio's multiples. The number itself would do as well, were there not to be gaps between the keys, so
    /// that taking one out does not have to look at all that follow.
    private func home(_ key: Int64) -> Int {
        Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
    }

    private mutating func place(_ key: Int64, _ slot: Int) {
        var index = home(key)
        while places[index].key != 0 { index = (index + 1) & mask }
        places[index] = Place(key: key, slot: slot)
    }

    /// Moves back whatever probing had pushed past the gap, so that no tombstones pile up.
    private mutating func closeGap(at removed: Int) {
        var gap = removed
        var index = (gap + 1) & mask
        while places[index].key != 0 {
            let distance = (index - home(places[index].key)) & mask
            if distance >= (index - gap) & mask {
                places[gap] = places[index]
                gap = index
            }
            index = (index + 1) & mask
        }
        places[gap] = Place()
    }

    private mutating func grow() {
        let old = places
        mask = max(15, mask * 2 + 1)
        places = Array(repeating: Place(), count: mask + 1)
        for taken in old where taken.key != 0 { place(taken.key, taken.slot) }
    }
}
