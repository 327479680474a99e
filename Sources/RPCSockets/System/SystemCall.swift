// Makes system calls: repeats a call that a signal interrupted, returns "would block" as a value, and throws other errors.

import CSystem
package import RPCWire

enum SystemCall {
    /// Makes a call that returns a negative number when it fails.
    @discardableResult
    static func make<Number: SignedInteger>(_ name: String, _ call: () -> Number) throws(SystemError) -> Number {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = system_errno()
            if code != EINTR { throw SystemError(name, code: code) }
        }
    }

    /// Makes a call on a descriptor that never blocks.
    static func transfer(_ name: String, _ call: () -> Int) -> Transfer {
        while true {
            let count = call()
            if count >= 0 { return .bytes(count) }
            let code = system_errno()
            if code == EAGAIN || code == EWOULDBLOCK { return .wouldBlock }
            if code != EINTR { return .failed(SystemError(name, code: code)) }
        }
    }

    /// Makes a call on a descriptor that may or may not wait. Makes it again after a signal, and when the descriptor is ready.
    static func patiently(_ descriptor: Int32, _ event: Int32, _ call: () -> Int) -> Int {
        while true {
            let result = call()
            if result >= 0 { return result }
            switch system_errno() {
            case EINTR: break
            case EAGAIN, EWOULDBLOCK:
                var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
                _ = poll(&entry, 1, -1)
            default: return result
            }
        }
    }

    /// Makes a call that takes some of the bytes, until all are taken. Returns false if that fails.
    static func patiently(
        _ descriptor: Int32, sendingAll bytes: UnsafeRawBufferPointer, _ call: (UnsafeRawBufferPointer) -> Int
    ) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest)
            let count = patiently(descriptor, POLLOUT) { call(piece) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Makes a call that creates two descriptors.
    static func pair(
        _ name: String, _ call: (UnsafeMutablePointer<Int32>) -> Int32
    ) throws(SystemError) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try make(name) { ends.withUnsafeMutableBufferPointer { $0.baseAddress.map(call) ?? -1 } }
        return (ends[0], ends[1])
    }
}

/// The result of one send or receive.
enum Transfer {
    case bytes(Int)
    case wouldBlock
    case failed(SystemError)
}

/// The clock that cannot be set. It runs on while the machine sleeps, where the system has such a clock.
package enum MonotonicClock {
    package static var now: Instant { Instant(nanoseconds: system_now()) }

    /// The value of `now` at the system's last tick, some milliseconds ago. Costs an eighth of `now`. On Linux it is earlier
    /// by the time that the machine has slept since it was started.
    package static var atLastTick: Instant { Instant(nanoseconds: system_now_at_last_tick()) }
}

/// The time of day, for data that outlives the process. No deadline uses it, since this clock can be set forward and back.
package enum WallClock {
    /// Nanoseconds since the beginning of 1970.
    package static var now: Int64 { system_time_of_day() }
}
