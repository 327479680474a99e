// The way system calls are made: again when a signal got in between, "would block" as a value, all else an error.

import CSystem
package import RPCWire

enum SystemCall {
    /// Makes a call that answers a negative number when it fails.
    @discardableResult
    static func make<Number: SignedInteger>(_ name: String, _ call: () -> Number) throws(SystemError) -> Number {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = system_errno()
            if code != EINTR { throw SystemError(name, code: code) }
        }
    }

    /// Makes a call on a descriptor that never waits.
    static func transfer(_ name: String, _ call: () -> Int) -> Transfer {
        while true {
            let count = call()
            if count >= 0 { return .bytes(count) }
            let code = system_errno()
            if code == EAGAIN || code == EWOULDBLOCK { return .wouldBlock }
            if code != EINTR { return .failed(SystemError(name, code: code)) }
        }
    }
}

/// What became of one send or receive.
enum Transfer {
    case bytes(Int)
    case wouldBlock
    case failed(SystemError)
}

/// The clock that no one can set.
package enum MonotonicClock {
    package static var now: Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(time)
    }

    /// What `now` was at the system's last tick, some milliseconds ago: an eighth of the price.
    package static var atLastTick: Instant {
        #if os(Linux)
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
            return Instant(time)
        #else
            return now
        #endif
    }
}

extension Instant {
    fileprivate init(_ time: timespec) {
        self.init(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
