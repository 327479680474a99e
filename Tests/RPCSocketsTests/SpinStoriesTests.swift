// Spinning played through: what becomes of it where both ends spin, and where calls are merely made now and then.

import RPCWire
import Testing

@testable import RPCSockets

@Suite struct `Spinning for long` {
    @Test(arguments: [15_000, 40_000, 90_000, 250_000] as [Int64])
    func `two ends that sleep both come to spin, however long waking takes`(_ waking: Int64) {
        var ends = [SpinPolicy(), SpinPolicy()]
        // What each does before the other can go on.
        let work: Int64 = 8_000
        // When each began to wait, which is when it was done: from then on the other has something to do.
        var (now, waiting) = (0 as Int64, [0, 0] as [Int64])
        for turn in 0..<100 {
            let end = turn % 2
            let (hasFound, time) = (now - waiting[end] <= ends[end].time, ends[end].time)
            if ends[end].isWorthwhile {
                ends[end].spun(for: min(now - waiting[end], time), hasFound: hasFound)
                if !hasFound { now += waking }
            } else {
                now += waking
                ends[end].slept(nanoseconds: now - waiting[end])
            }
            now += work
            waiting[end] = now
        }
        for end in ends { #expect(end.isWorthwhile) }
        #expect(now - waiting[0] <= work)
    }

    @Test(arguments: [100_000, 300_000, 590_000] as [Int64])
    func `where the other end takes its time spinning costs less than a fiftieth of a processor`(
        _ gap: Int64
    ) {
        var (policy, spun) = (SpinPolicy(), 0 as Int64)
        let waits: Int64 = 20_000
        for _ in 0..<waits {
            if policy.isWorthwhile {
                policy.spun(for: policy.time, hasFound: false)
                spun += policy.time
            } else {
                policy.slept(nanoseconds: gap)
            }
        }
        #expect(spun < waits * gap / 50)
    }
}
