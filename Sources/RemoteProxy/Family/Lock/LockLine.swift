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
        let access: Access
        let task: Int
        let waiter: Waiter
    }

    /// Stands for the task of a post or of a hold, which have none.
    static var noTask: Int { 0 }

    /// The tasks that are inside.
    private var inside: [Int] = []
    private var areReading = false
    /// Those that wait, by their tickets.
    private var places: [Int: Place] = [:]
    private var lastTicket = 0
    /// No ticket before this one waits any more.
    private var nextTicket = 1
    private(set) var isClosed = false

    /// Whether none is inside and none waits.
    var isEmpty: Bool { inside.isEmpty && places.isEmpty }

    mutating func enter(_ access: Access, by task: Int) -> Entry {
        if isClosed { return .isClosed }
        // Those that wait are not overtaken, or readers could keep a writer out for ever.
        if places.isEmpty, fits(access) {
            admit(access, task)
            return .entered
        }
        return task != Self.noTask && inside.contains(task) ? .isInside : .mustWait
    }

    /// Waits behind all others.
    /// - Returns: the ticket, for `withdraw`.
    mutating func join(_ access: Access, by task: Int, _ waiter: Waiter) -> Int {
        lastTicket += 1
        places[lastTicket] = Place(access: access, task: task, waiter: waiter)
        return lastTicket
    }

    mutating func leave(_ access: Access, by task: Int) {
        let name = access == .holding ? Self.noTask : task
        guard let index = inside.firstIndex(of: name) else { return }
        inside.swapAt(index, inside.count - 1)
        inside.removeLast()
    }

    /// Takes in the first that waits, if the way is free. To be asked again until it says nil.
    mutating func next() -> Place? {
        guard !places.isEmpty else { return nil }
        while places[nextTicket] == nil { nextTicket += 1 }
        guard let place = places[nextTicket], fits(place.access) else { return nil }
        places[nextTicket] = nil
        admit(place.access, place.task)
        return place
    }

    /// One that waits has given up. Nothing when it waits no more.
    mutating func withdraw(_ ticket: Int) { places[ticket] = nil }

    /// Lets none come any more. Posts, which have no task, still get their turn.
    /// - Returns: those that get none, in order.
    mutating func close() -> [Waiter] {
        isClosed = true
        let refused = places.filter { $0.value.task != Self.noTask }
        for ticket in refused.keys { places[ticket] = nil }
        return refused.sorted { $0.key < $1.key }.map(\.value.waiter)
    }

    private func fits(_ access: Access) -> Bool { inside.isEmpty || areReading && access == .reading }

    private mutating func admit(_ access: Access, _ task: Int) {
        areReading = access == .reading
        inside.append(access == .holding ? Self.noTask : task)
    }
}

extension LockLine.Place: Sendable where Waiter: Sendable {}
