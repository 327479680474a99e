// Decides whether an idle loop spins for a moment before it sleeps, because waking costs more than a short wait. Pure: the
// lengths of waits in, whether to spin next time out.
//
// Spinning uses a processor, so it has to pay. It ends soon after it has begun to find nothing. It begins after sleeps that
// were so short that spinning would have caught the events that ended them.

struct SpinPolicy {
    /// How long to spin at least, in nanoseconds.
    private static let leastTime: Int64 = 25_000
    /// A longer sleep was not short, even without its waking time; in nanoseconds. If both ends sleep, there are two wakings.
    /// Each takes 15 to 90 microseconds, or 250 if other programs want the processors too.
    private static let longestShortSleep: Int64 = 600_000
    /// A shorter wait was no sleep, in nanoseconds: spinning would have spared nothing.
    private static let shortestSleep: Int64 = 5_000

    /// How many waits in a row tell what the next one will be like.
    private static let proof = 8
    /// If spinning has found fewer events than this before it ended, it needs twice the proof to begin again.
    private static let worthTheProof = 128
    private static let mostProof = 1_024
    /// How much trust there is when spinning begins, and at most. It lasts longer than the proof takes: so this end still spins
    /// when the peer finds that its own sleeps have become short.
    private static let mostTrust = 4 * proof

    /// How long to spin before sleeping, in nanoseconds: two thirds of a short sleep. One of its two wakings is still needed if
    /// the peer sleeps.
    private(set) var time = SpinPolicy.leastTime
    /// If an event took longer than this, spinning for it did not pay: sleeping would have cost less at both ends.
    private var longestFind = SpinPolicy.leastTime
    /// Evidence for spinning; the loop spins while it is above 0. A miss counts twice as much as a hit. So if every second wait
    /// finds nothing, the loop sleeps.
    private var trust = 0
    /// Evidence for beginning to spin. A long sleep cancels two short ones.
    private var shortSleeps = 0
    /// How long short sleeps have lasted of late, in nanoseconds.
    private var shortSleep: Int64 = 0
    /// How many short sleeps it takes to begin to spin, and how many events have been found since spinning began.
    private var proofToBegin = SpinPolicy.proof
    private var hits = 0

    /// False if there is only one processor: nothing could happen while the loop spins.
    var isPossible = true
    var isWorthwhile: Bool { isPossible && trust > 0 }

    /// The loop has spun for this many nanoseconds. It has found something, or not.
    mutating func spun(for duration: Int64, hasFound: Bool) {
        guard !hasFound || duration > longestFind else {
            trust = min(trust + 1, Self.mostTrust)
            hits &+= 1
            return
        }
        trust = max(trust - 2, 0)
        guard trust == 0 else { return }
        proofToBegin = hits < Self.worthTheProof ? min(proofToBegin * 2, Self.mostProof) : Self.proof
        hits = 0
    }

    /// The loop has slept for this many nanoseconds without spinning before.
    mutating func slept(nanoseconds duration: Int64) {
        guard duration >= Self.shortestSleep else { return }
        guard duration <= Self.longestShortSleep else { return shortSleeps = max(shortSleeps - 2, 0) }
        shortSleep = shortSleeps == 0 ? duration : shortSleep + (duration - shortSleep) / Int64(Self.proof)
        shortSleeps += 1
        guard shortSleeps >= proofToBegin else { return }
        (trust, shortSleeps) = (Self.mostTrust, 0)
        time = max(Self.leastTime, shortSleep * 2 / 3)
        longestFind = max(Self.leastTime, shortSleep / 2)
    }
}
