// Remembers where skipped containers end. A decoder that looks for a name skips values, and decodes them later. Without this
// memory each level of nesting would scan the same text again.

struct ContainerEnds: ContainerObserver {
    /// Sorted by `start`, so that `end(of:)` can search by halves.
    private var known: [(start: Int, end: Int)] = []
    /// The numbers of the containers that are open at present.
    private var open: [Int] = []
    /// Every container that starts in skipped text before this offset is in `known`.
    private var frontier = 0

    mutating func removeAll() {
        // `known` may be filled while `frontier` is still 0: the first look ahead may have thrown.
        guard !known.isEmpty else { return }
        known.removeAll(keepingCapacity: known.capacity < 4096)
        open.removeAll(keepingCapacity: true)
        frontier = 0
    }

    mutating func opened(at offset: Int) {
        open.append(known.count)
        known.append((offset, offset))
    }

    mutating func closed(at offset: Int) {
        if let number = open.popLast() { known[number].end = offset }
    }

    /// Moves the reader behind the container at its cursor.
    mutating func skip(_ reader: inout JSONReader, remembering: Bool) throws(JSONError) {
        if reader.position < frontier, let end = end(of: reader.position) {
            reader.position = end
            reader.isFirst = false
        } else if remembering, reader.position >= frontier {
            try reader.skipContainer(&self)
            frontier = reader.position
        } else {
            var none = NoContainerObserver()
            try reader.skipContainer(&none)
        }
    }

    private func end(of start: Int) -> Int? {
        var low = 0
        var high = known.count
        while low < high {
            let middle = (low + high) / 2
            if known[middle].start < start { low = middle + 1 } else { high = middle }
        }
        return low < known.count && known[low].start == start ? known[low].end : nil
    }
}
