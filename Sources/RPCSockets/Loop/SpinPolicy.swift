// Decides whether an idle loop spins for a moment before it sleeps, because waking costs more than a short wait. Pure: how
// waits ended in, whether to spin next time out.
//
// Spinning uses a processor, so it has to pay. It stops soon after it finds nothing. It begins after sleeps so short that
// spinning would have caught the events that ended them.

struct SpinPolicy {
    /// How long to spin at least, in nanoseconds.
    private static let leastTime: Int64 = 25_000
    /// The longest sleep that may have been short but for the waking, in nanoseconds. Where both ends sleep there are two
    /// wakings of 15 to 90 microseconds each, or of 250 where other programs want the processors too.
    private static let longestShortSleep: Int64 = 600_000
    /// A wait that was over sooner was no sleep, in nanoseconds: spinning would have spared nothing.
    private static let shortestSleep: Int64 = 5_000

    /// How many waits in a row tell what the next one will be like.
    private static let proof = 8
    /// Spinning that found less than this before it was given up needs twice the proof next time.
    private static let worthTheProof = 128
    private static let mostProof = 1_024
    /// How much trust there is at first, and at most. It outlasts the proof, so that this end goes on until the other has found
    /// that its sleeps are short now.
    private static let mostTrust = 4 * proof

    /// How long to spin before sleeping, in nanoseconds: two thirds of a short sleep, since one of its two wakings is still needed
    /// where the other end sleeps.
    private(set) var time = SpinPolicy.leastTime
    /// An event that took longer to come was not worth spinning for: sleeping would have cost less at both ends.
    private var longestFind = SpinPolicy.leastTime
    /// What speaks for spinning. A miss weighs twice as much as a hit, so that waits of which every second one finds nothing are
    /// slept through.
    private var trust = 0
    /// What speaks for beginning to spin. A long sleep takes back two short ones, and no more.
    private var shortSleeps = 0
    /// How long short sleeps have lasted of late, in nanoseconds.
    private var shortSleep: Int64 = 0
    /// How many short sleeps it takes to begin, and how much has been found since it began.
    private var proofToBegin = SpinPolicy.proof
    private var hits = 0

    /// False on one processor, on which nothing could happen while the loop spins.
    var isPossible = true
    var isWorthwhile: Bool { isPossible && trust > 0 }

    /// The loop has spun for so many nanoseconds, and has found something or not.
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

    /// The loop has slept for so many nanoseconds without spinning before.
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
