// The time of day, for what outlives the process. Nothing waits by it: it can be set, forward and back.

import CSystem

package enum WallClock {
    /// Nanoseconds since the beginning of 1970.
    package static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
