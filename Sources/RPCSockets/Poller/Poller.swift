// Waits for descriptors to become ready. Each poller uses what one kind of system has, and stands in a file of its own. The end of
// this file chooses the poller of the loops.

import CSystem

/// A list of watched descriptors. All members but `wake` are called on the loop.
protocol Poller: AnyObject {
    init()

    /// Opens the poller's own descriptors, unless they are open. Until that succeeds no descriptor can be watched.
    func open() throws(SystemError)

    /// Watches a descriptor that is not watched yet. Each of its events has this tag. Descriptor numbers are reused, so the tag
    /// tells late events of a closed descriptor from those of the new one.
    func add(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError)

    func change(_ descriptor: Int32, _ interest: Readiness, tag: UInt64) throws(SystemError)

    /// Must be called before the descriptor is closed.
    func remove(_ descriptor: Int32)

    /// Waits until a descriptor is ready, `wake` is called or the time is over; nil waits without a limit, and a time
    /// below zero is over. Takes at most a millisecond longer than that. May return early, without an event.
    /// - Returns: the number of events. A descriptor that stays ready has events in the next wait too.
    func wait(nanoseconds: Int64?) -> Int

    /// Returns one of the events of the last `wait`. A descriptor may have several.
    func event(_ index: Int) -> (tag: UInt64, readiness: Readiness)

    /// Ends the current or the next `wait`. Any thread may call this, and only this member.
    func wake()
}

/// Events of a descriptor: those to wait for, or those that have occurred. The bits are those that `poll` and `epoll` have
/// everywhere, so neither needs a conversion.
struct Readiness: OptionSet {
    let rawValue: UInt32

    static var reading: Readiness { Readiness(rawValue: 1) }
    static var writing: Readiness { Readiness(rawValue: 4) }
    /// The connection is broken, or over in both directions. Reported even if neither reading nor writing is watched. An event
    /// has one of the two bits or both.
    static var hungUp: Readiness { Readiness(rawValue: 8 | 16) }

    var isHungUp: Bool { !isDisjoint(with: .hungUp) }
}

/// The longest wait of a poller that is not open, in milliseconds. Nothing can wake the loop then.
private let longestNap: Int32 = 10

extension Poller {
    /// Whole milliseconds; -1 for no limit. Rounded up, so that no wait ends just before its time.
    static func milliseconds(_ nanoseconds: Int64?) -> Int32 {
        guard let nanoseconds else { return -1 }
        guard nanoseconds > 0 else { return 0 }
        return Int32(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }

    /// The wait of a poller that is not open: tries to open it, and returns at once if that succeeds, because `wake` may have been
    /// called just before. Else waits for a moment.
    func waitToOpen(nanoseconds: Int64?) -> Int {
        if (try? open()) == nil {
            let milliseconds = Self.milliseconds(nanoseconds)
            _ = poll(nil, 0, milliseconds < 0 ? longestNap : min(milliseconds, longestNap))
        }
        return 0
    }

    /// What a failed wait means. After EINTR the loop works out anew how long to wait. Any other error means that the poller's own
    /// descriptor is gone. No peer can cause that: it is a bug in this process, and nothing could be trusted afterwards.
    func waitFailed(_ call: String) -> Int {
        guard system_errno() == EINTR else { fatalError("\(SystemError(call))") }
        return 0
    }
}

#if POLL
    typealias SystemPoller = Poll
#elseif KQUEUE || canImport(Darwin) || os(FreeBSD)
    typealias SystemPoller = Kqueue
#elseif os(Linux) || os(Android)
    typealias SystemPoller = Epoll
#else
    typealias SystemPoller = Poll
#endif
