// The order in which sessions have lost their clients, for each owner by itself: who has to go first when there are too
// many. Pure. Places are given up without a word when a client comes back or a session ends, and passed over later.

struct UnclaimedSessions: Sendable {
    struct Place: Sendable, Hashable {
        let id: String
        /// Grows from one loss to the next.
        let leftAt: Int
    }

    /// Oldest first.
    private var lines: [Identity?: ArraySlice<Place>] = [:]

    /// How many places are known, those that were given up among them.
    var count: Int { lines.values.reduce(0) { $0 + $1.count } }

    /// - Parameters:
    ///   - sessions: how many there are. With more places than that, most have been given up and are cleared away.
    ///   - isWaiting: whether a place has not been given up.
    mutating func append(_ place: Place, of owner: Identity?, among sessions: Int, _ isWaiting: (Place) -> Bool) {
        lines[owner, default: []].append(place)
        guard let line = lines[owner], line.count > 2 * sessions + 16 else { return }
        lines[owner] = ArraySlice(line.filter(isWaiting))
    }

    /// Takes out the oldest of this owner, or if there is none, of all.
    mutating func takeFirst(preferring owner: Identity?, _ isWaiting: (Place) -> Bool) -> Place? {
        if let own = takeFirst(of: owner, isWaiting) { return own }
        for other in lines.keys { passOver(in: other, isWaiting) }
        let oldest = lines.min { ($0.value.first?.leftAt ?? .max) < ($1.value.first?.leftAt ?? .max) }
        return oldest.flatMap { takeFirst(of: $0.key, isWaiting) }
    }

    private mutating func takeFirst(of owner: Identity?, _ isWaiting: (Place) -> Bool) -> Place? {
        passOver(in: owner, isWaiting)
        return lines[owner]?.popFirst()
    }

    private mutating func passOver(in owner: Identity?, _ isWaiting: (Place) -> Bool) {
        while let first = lines[owner]?.first, !isWaiting(first) { lines[owner]?.removeFirst() }
        if lines[owner]?.isEmpty == true { lines[owner] = nil }
    }
}
