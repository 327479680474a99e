// Where skipped containers end. Looking ahead for a name passes over values that are decoded afterwards; remembering
// their ends keeps nested look-aheads from walking the same text once for each level.

struct ContainerEnds: ContainerNotes {
    private var known: [(start: Int, end: Int)] = []
    private var open: [Int] = []
    /// Every container that starts in skipped text before this offset is known.
    private var frontier = 0

    mutating func removeAll() {
        // Also when the first look ahead has thrown midway, and nothing before a frontier is known.
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
            var none = NoContainerNotes()
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
