// Orders the turns at a lock: one at a time, or readers together, first come, first served. A state machine without locks or
// tasks of its own. `SubjectLock` drives it.

struct LockLine<Waiter> {
    enum Access: Sendable {
        /// Together with other readers.
        case reading
        /// Alone.
        case changing
        /// Alone, for a hold. It belongs to no task, since several tasks may call under it.
        case holding
    }

    enum Entry {
        /// The task is inside, until `leave`.
        case entered
        /// Other tasks are inside or wait: call `join`.
        case mustWait
        /// The task is inside already, and would wait for itself.
        case isInside
        case isClosed
    }

    struct Place {
        let access: Access
        let task: Int
        let waiter: Waiter
    }

    /// Stands for the task of a post or a hold, which has none.
    static var noTask: Int { 0 }

    /// How many tasks may change the subject together.
    private let places: Int
    /// The tasks inside.
    private var inside: [Int] = []
    /// How the tasks inside came in.
    private var access = Access.changing
    /// The places in the line, by their tickets.
    private var waiting: [Int: Place] = [:]
    private var lastTicket = 0
    /// No ticket below this one is waiting.
    private var nextTicket = 1
    private(set) var isClosed = false

    init(places: Int = 1) { self.places = places }

    /// Whether no task is inside and none waits.
    var isEmpty: Bool { inside.isEmpty && waiting.isEmpty }

    /// - Parameter others: the tasks that wait for this one.
    mutating func enter(_ access: Access, by task: Int, for others: [Int] = []) -> Entry {
        if isClosed { return .isClosed }
        // A reader does not overtake a waiting task. Otherwise readers could keep a writer out for ever.
        if waiting.isEmpty, fits(access) {
            admit(access, task)
            return .entered
        }
        let isInside = inside.contains { $0 != Self.noTask && ($0 == task || others.contains($0)) }
        return isInside ? .isInside : .mustWait
    }

    /// Waits behind all others.
    /// - Returns: the ticket, for `withdraw`.
    mutating func join(_ access: Access, by task: Int, _ waiter: Waiter) -> Int {
        lastTicket += 1
        waiting[lastTicket] = Place(access: access, task: task, waiter: waiter)
        return lastTicket
    }

    mutating func leave(_ access: Access, by task: Int) {
        let name = access == .holding ? Self.noTask : task
        guard let index = inside.firstIndex(of: name) else { return }
        inside.swapAt(index, inside.count - 1)
        inside.removeLast()
    }

    /// The turn of a post, which has the lock alone, goes on in this task. Until it leaves, the task would wait for itself.
    mutating func goOn(in task: Int) {
        if let index = inside.firstIndex(of: Self.noTask) { inside[index] = task }
    }

    /// Lets the first waiting place in, if nothing is in its way. Call it again until it returns nil.
    mutating func next() -> Place? {
        guard !waiting.isEmpty else { return nil }
        while waiting[nextTicket] == nil { nextTicket += 1 }
        guard let place = waiting[nextTicket], fits(place.access) else { return nil }
        waiting[nextTicket] = nil
        admit(place.access, place.task)
        return place
    }

    /// Removes a place that has given up. Does nothing if it waits no more.
    mutating func withdraw(_ ticket: Int) { waiting[ticket] = nil }

    /// Lets no further task in. Posts, which have no task, still get their turn.
    /// - Returns: the tasks that will get no turn, in order.
    mutating func close() -> [Waiter] {
        isClosed = true
        let refused = waiting.filter { $0.value.task != Self.noTask }
        for ticket in refused.keys { waiting[ticket] = nil }
        return refused.sorted { $0.key < $1.key }.map(\.value.waiter)
    }

    private func fits(_ access: Access) -> Bool {
        guard !inside.isEmpty else { return true }
        guard access == self.access else { return false }
        return access == .reading || access == .changing && inside.count < places
    }

    private mutating func admit(_ access: Access, _ task: Int) {
        self.access = access
        inside.append(access == .holding ? Self.noTask : task)
    }
}

extension LockLine.Place: Sendable where Waiter: Sendable {}
