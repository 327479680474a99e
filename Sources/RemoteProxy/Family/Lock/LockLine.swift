// The order of turns before a lock: one at a time, or readers together, first come first served. A machine without locks or
// tasks: arrivals and departures come in, decisions go out. `SubjectLock` drives it.

struct LockLine<Waiter> {
    enum Access: Sendable {
        /// Side by side with others that read.
        case reading
        /// Alone.
        case changing
        /// Alone, but not for one task: the tasks of the holder come and go.
        case holding
    }

    enum Entry {
        /// Inside, until `leave`.
        case entered
        /// Others are in the way: `join`.
        case mustWait
        /// The task is inside already and would wait for itself.
        case isInside
        case isClosed
    }

    struct Place {
        let ticket: Int
        let access: Access
        let task: Int
        let waiter: Waiter
    }

    /// Stands for the task of a post or a hold, which have none.
    static var noTask: Int { 0 }

    /// The tasks that are inside.
    private var inside: [Int] = []
    private var areReading = false
    private var places: [Place] = []
    private var first = 0
    private var tickets = 0
    private(set) var isClosed = false

    private var areWaiting: Bool { first < places.count }

    /// Whether none is inside and none waits.
    var isEmpty: Bool { inside.isEmpty && !areWaiting }

    mutating func enter(_ access: Access, by task: Int) -> Entry {
        if isClosed { return .isClosed }
        // Those that wait are not overtaken, or readers could keep a writer out for ever.
        if !areWaiting, fits(access) {
            admit(access, task)
            return .entered
        }
        return task != Self.noTask && inside.contains(task) ? .isInside : .mustWait
    }

    /// Waits behind all others.
    mutating func join(_ access: Access, by task: Int, _ waiter: Waiter) -> Int {
        tickets += 1
        places.append(Place(ticket: tickets, access: access, task: task, waiter: waiter))
        return tickets
    }

    mutating func leave(_ access: Access, by task: Int) {
        let name = access == .holding ? Self.noTask : task
        guard let index = inside.firstIndex(of: name) else { return }
        inside.swapAt(index, inside.count - 1)
        inside.removeLast()
    }

    /// Takes in the first that waits, if the way is free. To be asked again until it says nil.
    mutating func next() -> Place? {
        guard areWaiting, fits(places[first].access) else { return nil }
        let place = places[first]
        first += 1
        if first == places.count || first >= 256 { compact() }
        admit(place.access, place.task)
        return place
    }

    /// One that waits has given up. Nothing when it waits no more.
    mutating func withdraw(_ ticket: Int) {
        compact()
        guard let index = places.firstIndex(where: { $0.ticket == ticket }) else { return }
        places.remove(at: index)
    }

    /// Lets none come any more. Returns the waiters that are not to stay.
    mutating func close(keeping stays: (Waiter) -> Bool) -> [Waiter] {
        isClosed = true
        compact()
        defer { places.removeAll { !stays($0.waiter) } }
        return places.filter { !stays($0.waiter) }.map(\.waiter)
    }

    private func fits(_ access: Access) -> Bool { inside.isEmpty || areReading && access == .reading }

    private mutating func admit(_ access: Access, _ task: Int) {
        areReading = access == .reading
        inside.append(access == .holding ? Self.noTask : task)
    }

    private mutating func compact() {
        places.removeFirst(first)
        first = 0
    }
}

extension LockLine.Place: Sendable where Waiter: Sendable {}
