// Waits for descriptors to become ready. The system keeps the list of the watched descriptors, and reports only the ready ones.

import CSystem
import RPCWire
import Synchronization

/// The system's list of descriptors, and one more descriptor by which any thread can end a wait. All members but `wake` are
/// called on the loop.
final class Epoll {
    /// A tag that no registration has.
    private static let wakeUpTag = UInt64.max
    /// The longest wait without descriptors, in milliseconds. Nothing can wake the loop then.
    private static let longestNap: Int32 = 10
    /// How many events one wait can report.
    private static let mostEvents = 256

    private var list: FileDescriptor?
    private var wakeUp: FileDescriptor?
    /// The number of `wakeUp`, for other threads; -1 until it exists.
    private let wakeUpNumber = Atomic<Int32>(-1)
    /// The events of the last wait. Not an array, which would be checked and copied for the system each time.
    private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: Epoll.mostEvents)

    deinit { events.deallocate() }

    /// Opens the two descriptors, unless they are open. Until that succeeds no descriptor can be watched.
    func open() throws(SystemError) {
        guard list == nil else { return }
        let list = FileDescriptor(try SystemCall.make("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
        let wakeUp = FileDescriptor(
            try SystemCall.make("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
        // Edge-triggered: every write is one event, and the counter need not be read back.
        var event = epoll_event(
            events: Readiness.reading.rawValue | system_edge_triggered, data: .init(u64: Self.wakeUpTag))
        try SystemCall.make("epoll_ctl") { epoll_ctl(list.number, EPOLL_CTL_ADD, wakeUp.number, &event) }
        (self.list, self.wakeUp) = (list, wakeUp)
        wakeUpNumber.store(wakeUp.number, ordering: .relaxed)
    }

    /// Watches a descriptor. Each of its events has this tag. Descriptor numbers are reused, so the tag tells late events of a
    /// closed descriptor from those of the new one.
    func add(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError) {
        try open()
        try control(EPOLL_CTL_ADD, descriptor, interest, tag)
    }

    func change(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError) {
        try control(EPOLL_CTL_MOD, descriptor, interest, tag)
    }

    func remove(_ descriptor: Int32) {
        var unused = epoll_event()
        if let list { epoll_ctl(list.number, EPOLL_CTL_DEL, descriptor, &unused) }
    }

    /// Waits until a descriptor is ready, `wake` is called or the time is over; nil waits without a limit. Takes at most a
    /// millisecond longer than that. May return early, without an event.
    /// - Returns: the number of events.
    func wait(nanoseconds: Int64?) -> Int {
        let milliseconds = Self.milliseconds(nanoseconds)
        guard let list else {
            // If this succeeds, returns at once: `wake` may have been called just before, without a descriptor to write to.
            if (try? open()) == nil {
                _ = poll(nil, 0, milliseconds < 0 ? Self.longestNap : min(milliseconds, Self.longestNap))
            }
            return 0
        }
        let count = epoll_wait(list.number, events, Int32(Self.mostEvents), milliseconds)
        if count >= 0 { return Int(count) }
        // After EINTR the loop works out anew how long to wait. Any other error means that the loop's own descriptor is gone.
        // No peer can cause that: it is a bug in this process, and nothing could be trusted afterwards.
        guard system_errno() == EINTR else { fatalError("\(SystemError("epoll_wait"))") }
        return 0
    }

    /// Returns one of the events of the last `wait`.
    func event(_ index: Int) -> (tag: UInt64, readiness: Readiness) {
        (events[index].data.u64, Readiness(rawValue: events[index].events))
    }

    /// Ends the current or the next `wait`. Any thread may call this, and only this member.
    func wake() {
        let number = wakeUpNumber.load(ordering: .relaxed)
        guard number >= 0 else { return }
        var one: UInt64 = 1
        while write(number, &one, 8) < 0, system_errno() == EINTR {}
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ interest: Readiness, _ tag: UInt64
    ) throws(SystemError) {
        guard let list else { return }
        var event = epoll_event(events: interest.rawValue, data: .init(u64: tag))
        try SystemCall.make("epoll_ctl") { epoll_ctl(list.number, operation, descriptor, &event) }
    }

    /// Whole milliseconds; -1 for no limit. Rounded up, so that no wait ends just before its time.
    static func milliseconds(_ nanoseconds: Int64?) -> Int32 {
        guard let nanoseconds else { return -1 }
        guard nanoseconds > 0 else { return 0 }
        return Int32(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }
}

/// Events of a descriptor: those to wait for, or those that have occurred. The bits are those that `poll` and `epoll` have
/// everywhere, so that neither needs a conversion.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static var reading: Readiness { Readiness(rawValue: 1) }
    static var writing: Readiness { Readiness(rawValue: 4) }
    /// The connection is broken, or over in both directions. Reported even if neither reading nor writing is watched. The system
    /// sets one bit of these or both.
    static var hungUp: Readiness { Readiness(rawValue: 8 | 16) }

    var isHungUp: Bool { !isDisjoint(with: .hungUp) }
}
