// Whether a loop that has nothing to do looks out for a moment before it sleeps, because being woken costs more than the
// wait. Pure: how waits ended in, whether to look out next time.
//
// Looking out burns a processor, so it has to pay: it ends soon after nothing comes of it, and begins when sleeps were
// so short that looking out would have caught what ended them.

struct Lookout {
    /// How long to look out before sleeping, in nanoseconds.
    static let time: Int64 = 50_000
    /// A sleep of so long, waking included, would not have been one.
    private static let shortSleep = Duration.microseconds(80)
    /// How many in a row tell what the next wait will be like.
    private static let proof = 8

    /// What speaks for looking out. A miss weighs twice as much as a hit, so that a wait which comes to nothing every
    /// second time, as between calls that are made now and then, is slept through.
    private var trust = 0
    private var shortSleeps = 0

    var isWorthwhile: Bool { trust > 0 }

    /// The loop has looked out, and something came or not.
    mutating func lookedOut(hasFound: Bool) {
        trust = hasFound ? min(trust + 1, Self.proof) : max(trust - 2, 0)
    }

    /// The loop has slept for so long without looking out before.
    mutating func slept(_ duration: Duration) {
        guard duration <= Self.shortSleep else { return shortSleeps = 0 }
        shortSleeps += 1
        guard shortSleeps >= Self.proof else { return }
        (trust, shortSleeps) = (Self.proof, 0)
    }
}
