// What a loop asks of the system: which descriptors can go on. Two back ends, `Epoll` and `Poll`, and one that becomes either as
// soon as there are descriptors.

import CSystem
import RPCWire

protocol Selector: AnyObject {
    /// Watches a descriptor; `tag` comes back with every event, so that a closed and reused descriptor is not
    /// mistaken for the new one.
    func add(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError)
    func change(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError)
    func remove(_ descriptor: Int32)

    /// Waits until something is ready, `wake` is called or the time is over (nil: for ever); never longer than
    /// asked by more than a millisecond. Answers the number of events.
    func wait(nanoseconds: Int64?) -> Int
    /// One of the events of the last `wait`.
    func event(_ index: Int) -> ReadyEvent

    /// Ends the current or the next `wait`. The one member that any thread may call.
    func wake()
}

struct ReadyEvent {
    var tag: UInt64
    var readiness: Readiness
}

struct Interest: OptionSet {
    let rawValue: UInt8
    static let reading = Interest(rawValue: 1)
    static let writing = Interest(rawValue: 2)
}

struct Readiness: OptionSet {
    let rawValue: UInt8
    static let readable = Readiness(rawValue: 1)
    static let writable = Readiness(rawValue: 2)
    /// The connection is broken or over in both directions; reported whatever the interest is.
    static let hungUp = Readiness(rawValue: 4)
}

extension Selector {
    func wait(_ timeout: Duration?) -> Int { wait(nanoseconds: timeout?.nanoseconds) }

    /// Whole milliseconds, rounded up so that no wait ends just before its time; -1 is for ever.
    static func milliseconds(_ nanoseconds: Int64?) -> Int32 {
        guard let nanoseconds else { return -1 }
        guard nanoseconds > 0 else { return 0 }
        return Int32(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }
}

/// Stands in for a back end that could not be made, because the process had no descriptors. It tells everything that wants to
/// watch one why it cannot, and becomes a back end like the others as soon as there are some. Timers and work go on.
final class LateSelector: Selector {
    /// `@unchecked Sendable`: used on the loop's thread but for `wake`, which any thread may call.
    private struct Made: @unchecked Sendable { let selector: any Selector }

    /// How long it sleeps at most before it is made, in nanoseconds, since nothing can wake it then.
    private static let longestNap: Int64 = 10_000_000

    private let made = Lock<Made?>(nil)

    private var real: (any Selector)? { made.withLock { $0 }?.selector }

    private func makeReal() throws(SystemError) -> any Selector {
        if let real { return real }
        let new = Made(selector: try EventLoop.Backend.best.makeSelector())
        made.withLock { $0 = new }
        return new.selector
    }

    func add(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError) {
        try makeReal().add(descriptor, interest, tag: tag)
    }

    func change(_ descriptor: Int32, _ interest: Interest, tag: UInt64) throws(SystemError) {
        try makeReal().change(descriptor, interest, tag: tag)
    }

    func remove(_ descriptor: Int32) { real?.remove(descriptor) }

    func wait(nanoseconds: Int64?) -> Int {
        if let real { return real.wait(nanoseconds: nanoseconds) }
        _ = poll(nil, 0, LateSelector.milliseconds(min(nanoseconds ?? Self.longestNap, Self.longestNap)))
        return 0
    }

    func event(_ index: Int) -> ReadyEvent { real?.event(index) ?? ReadyEvent(tag: .max, readiness: []) }

    func wake() { real?.wake() }
}

// MARK: handlers

/// Something that waits for a descriptor on a loop. All members are called on the loop.
protocol Selectable: AnyObject, Sendable {
    func ready(_ readiness: Readiness)
    /// Takes what has come, if something has, without a report that it is ready. Answers whether something had.
    func take() -> Bool
    /// The loop ends: let go of the descriptor soon.
    func loopWillEnd()
}

extension Selectable {
    func take() -> Bool { false }
}

/// One descriptor that a loop watches.
struct Registration {
    let descriptor: Int32
    /// The slot in the lower half, how often it has been used in the upper.
    let tag: UInt64
}

/// The handlers of a loop by their registrations. The system closes and reuses descriptor numbers at once, while events of the old
/// one may still be on their way. So each registration has a number of its own, and an event with an old number finds no handler.
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

    /// The handler, unless its registration has ended.
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
