// Where the calls stand in their table. Numbers ascend, so the last digits of one say where: a number whose place is taken, by
// a call that takes long, is passed over. Nothing is hashed, and no call is moved but by growing.

extension OutgoingCalls {
    @inlinable
    func home(_ id: Int64) -> Int { Int(truncatingIfNeeded: id) & (entries.count - 1) }

    /// Where a call stands that has not ended.
    @inlinable
    func index(of id: Int64) -> Int? {
        guard count > 0 else { return nil }
        let index = home(id)
        return entries[index]?.id == id ? index : nil
    }

    @inlinable
    func index(of id: Int64, sentOver stream: Int) -> Int? {
        index(of: id).flatMap { entries[$0]?.place?.stream == stream ? $0 : nil }
    }

    /// The next number whose place is free.
    @inlinable
    mutating func takeNumberOfCall() -> Int64 {
        if count * 2 >= entries.count { grow() }
        while entries[home(nextID)] != nil { nextID += 1 }
        return takeNumber()
    }

    @inlinable
    mutating func take(_ index: Int) -> Entry? {
        count -= 1
        return entries[index].take()
    }

    @inlinable
    mutating func remove(_ index: Int) -> Removed? { take(index).map { Removed($0) } }

    @inlinable
    mutating func renumber(_ index: Int) -> (id: Int64, kept: Kept)? {
        guard var entry = take(index) else { return nil }
        entry.id = takeNumberOfCall()
        entry.place = nil
        enter(entry)
        return (entry.id, entry.kept)
    }

    @inlinable
    mutating func enter(_ entry: Entry) {
        entries[home(entry.id)] = entry
        count += 1
    }

    @inlinable
    mutating func removeAll(where matches: (Entry) -> Bool) -> [Removed] {
        numbers(where: matches).compactMap { remove(home($0)) }
    }

    @inlinable
    func numbers(where matches: (Entry) -> Bool) -> [Int64] {
        entries.compactMap { entry in entry.flatMap { matches($0) ? $0.id : nil } }.sorted()
    }

    /// Those that had a place each have one each among twice as many as well.
    @usableFromInline
    mutating func grow() {
        let old = entries
        entries = Array(repeating: nil, count: max(16, old.count * 2))
        for case let entry? in old { entries[home(entry.id)] = entry }
    }

    /// More places than these are not kept for calls that may come: after many calls at a time the next deadline finds few, and
    /// each look for one goes through all places.
    private static var mostPlacesKept: Int { 1_024 }

    @usableFromInline
    mutating func letGoOfRoom() {
        if count == 0, entries.count > Self.mostPlacesKept { entries = [] }
    }
}
