// Waits for descriptors to become ready. The system keeps the list of watched ones, and reports only the ready ones.

import CSystem
import RPCWire
import Synchronization

/// The system's list of descriptors, and one more descriptor with which any thread ends a wait. All members but `wake` are
/// called on the loop.
final class Epoll {
    /// A tag that no registration has.
    private static let wakeUpTag = UInt64.max
    /// How long it waits at most while it has no descriptors, in milliseconds: nothing can wake it then.
    private static let longestNap: Int32 = 10

    private var list: FileDescriptor?
    private var wakeUp: FileDescriptor?
    /// The same for other threads; -1 until there is one.
    private let wakeUpNumber = Atomic<Int32>(-1)
    private var events = [epoll_event](repeating: epoll_event(), count: 256)

    /// Takes the two descriptors that are needed, unless they are there. Until that succeeds nothing can be watched.
    func open() throws(SystemError) {
        guard list == nil else { return }
        let list = FileDescriptor(try SystemCall.make("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
        let wakeUp = FileDescriptor(
            try SystemCall.make("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
        // Edge-triggered: every write is one event, and the counter need not be read back.
        var event = epoll_event(events: EPOLLIN.rawValue | EPOLLET.rawValue, data: .init(u64: Self.wakeUpTag))
        try SystemCall.make("epoll_ctl") { epoll_ctl(list.number, EPOLL_CTL_ADD, wakeUp.number, &event) }
        (self.list, self.wakeUp) = (list, wakeUp)
        wakeUpNumber.store(wakeUp.number, ordering: .relaxed)
    }

    /// Watches a descriptor; `tag` comes back with every event, so that a closed and reused descriptor is not
    /// mistaken for the new one.
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

    /// Waits until something is ready, `wake` is called or the time is over (nil: for ever); never longer than
    /// asked by more than a millisecond.
    /// - Returns: the number of events.
    func wait(nanoseconds: Int64?) -> Int {
        let milliseconds = Self.milliseconds(nanoseconds)
        guard let list else {
            // Returns at once when that succeeds: `wake` may have found nothing a moment ago.
            if (try? open()) == nil {
                _ = poll(nil, 0, milliseconds < 0 ? Self.longestNap : min(milliseconds, Self.longestNap))
            }
            return 0
        }
        let count = epoll_wait(list.number, &events, Int32(events.count), milliseconds)
        if count >= 0 { return Int(count) }
        // The loop works out anew how long to wait. Any other error means that the loop's own descriptor is gone: a
        // bug in this process, which no peer can bring about, and after which nothing here could be trusted.
        guard system_errno() == EINTR else { fatalError("\(SystemError("epoll_wait"))") }
        return 0
    }

    /// One of the events of the last `wait`.
    func event(_ index: Int) -> (tag: UInt64, readiness: Readiness) {
        (events[index].data.u64, Readiness(rawValue: events[index].events))
    }

    /// Ends the current or the next `wait`. The one member that any thread may call.
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

    /// Whole milliseconds, rounded up so that no wait ends just before its time; -1 is for ever.
    static func milliseconds(_ nanoseconds: Int64?) -> Int32 {
        guard let nanoseconds else { return -1 }
        guard nanoseconds > 0 else { return 0 }
        return Int32(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }
}

/// The events of a descriptor: those that are waited for, or those that occurred. In the system's bits.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static var reading: Readiness { Readiness(rawValue: EPOLLIN.rawValue) }
    static var writing: Readiness { Readiness(rawValue: EPOLLOUT.rawValue) }
    /// The connection is broken or over in both directions; reported also when neither reading nor writing is waited for.
    var isHungUp: Bool { rawValue & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }
}
