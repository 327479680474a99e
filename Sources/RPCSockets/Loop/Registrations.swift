// The descriptors that a loop watches, each with the object that handles its events.

/// Handles the events of a descriptor. All members are called on the loop.
protocol Selectable: AnyObject, Sendable {
    func ready(_ readiness: Readiness)
    /// Reads once, although no event was reported. Returns whether anything came. Called only on `EventLoop.State.lastRead`.
    func readOnce() -> Bool
    /// The loop is ending: the handler must give up its descriptor soon.
    func loopWillEnd()
}

extension Selectable {
    func readOnce() -> Bool { false }
}

/// One descriptor that a loop watches.
struct Registration {
    let descriptor: Int32
    /// The index of the slot in the lower half; how often the slot was used before in the upper half.
    let tag: UInt64
}

/// The handlers of a loop by the tags of their registrations. The system reuses the number of a closed descriptor at once,
/// while events of the old one may still be on their way. So each registration has its own tag, and an event with an old tag
/// finds no handler.
struct Registrations {
    private struct Slot {
        var uses: UInt32 = 0
        var handler: (any Selectable)?
    }

    private var slots: ContiguousArray<Slot> = []
    private var free: ContiguousArray<Int> = []

    var count: Int { slots.count - free.count }
    var handlers: [any Selectable] { slots.compactMap(\.handler) }

    mutating func insert(_ handler: any Selectable, descriptor: Int32) -> Registration {
        let index = free.popLast() ?? slots.count
        if index == slots.count { slots.append(Slot()) }
        slots[index].handler = handler
        return Registration(descriptor: descriptor, tag: UInt64(slots[index].uses) << 32 | UInt64(index))
    }

    /// The handler with this tag; nil if its registration has ended.
    subscript(tag: UInt64) -> (any Selectable)? {
        let index = Int(tag & 0xFFFF_FFFF)
        guard index < slots.count, UInt64(slots[index].uses) == tag >> 32 else { return nil }
        return slots[index].handler
    }

    mutating func remove(_ registration: Registration) {
        guard self[registration.tag] != nil else { return }
        let index = Int(registration.tag & 0xFFFF_FFFF)
        slots[index].handler = nil
        slots[index].uses &+= 1
        free.append(index)
    }
}
