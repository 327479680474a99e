// The calls that one caller makes one after the other: whether there is to be another, and how long they took.

import RawEcho

/// Asked before each call. The end of one call is the beginning of the next.
///
/// A caller among others times one call of eight: reading the clock for each takes a twentieth of the call, and the raw
/// baseline reads it once for all that a read brings. One that is alone times each, as the baseline does.
struct Stint {
    private(set) var latencies = Latencies()
    private let end: UInt64
    private let untimed: Int
    private var untimedLeft = 0
    private var begin: UInt64?

    init(until end: UInt64, amongOthers: Bool) {
        self.end = end
        untimed = amongOthers ? Int(histogram_untimed) : 0
    }

    /// Whether there is time for another call, which is made then.
    mutating func goesOn() -> Bool {
        if untimedLeft == untimed, let begin {
            let now = bench_now()
            latencies.add(now &- begin)
            if untimed == 0 { return begins(at: now) }
        }
        guard untimedLeft > 0 else { return begins(at: bench_now()) }
        untimedLeft -= 1
        latencies.addUntimed(1)
        return true
    }

    private mutating func begins(at now: UInt64) -> Bool {
        begin = now
        untimedLeft = untimed
        return now < end
    }
}
