// What a loop asks of the system: which descriptors can go on. Two back ends, `Epoll` and `Poll`.

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
    /// The connection is broken or over in both directions; reported whether or not anybody is interested.
    static let hungUp = Readiness(rawValue: 4)
}

extension Selector {
    func wait(_ timeout: Duration?) -> Int { wait(nanoseconds: timeout?.nanoseconds) }

    /// Whole milliseconds, rounded up so that nobody wakes just before it is time; -1 is for ever.
    static func milliseconds(_ nanoseconds: Int64?) -> Int32 {
        guard let nanoseconds else { return -1 }
        guard nanoseconds > 0 else { return 0 }
        return Int32(clamping: (nanoseconds - 1) / 1_000_000 + 1)
    }
}
