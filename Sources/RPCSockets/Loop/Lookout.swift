// Whether a loop that has nothing to do looks out for a moment before it sleeps, because being woken costs more than the
// wait. Pure: how waits ended and from where something came in, whether to look out next time and where.
//
// Looking out burns a processor, so it has to pay: it ends soon after nothing comes of it, and begins when sleeps were
// so short that looking out would have caught what ended them.

package import RPCWire

struct Lookout {
    /// How long to look out at least, in nanoseconds.
    private static let leastTime: Int64 = 25_000
    /// The longest sleep that may have been short but for the waking, in nanoseconds. Where both ends sleep it is two wakings,
    /// which take 15 to 90 microseconds each, as the machine has it, and 250 where others want it too; and what the other end
    /// does in between. One that was longer for another reason is looked out for in vain, seldom.
    private static let longestShortSleep: Int64 = 600_000
    /// What is over sooner was no sleep, in nanoseconds: something was there already, and looking out would have spared nothing.
    private static let shortestSleep: Int64 = 5_000

    /// How many in a row tell what the next wait will be like.
    private static let proof = 8
    /// Having found less than that before it gave up it wants twice the proof next time: where others want the processors
    /// too, sleeps are short and still nothing comes in time while one looks out.
    private static let worthTheProof = 128
    private static let mostProof = 1_024
    /// For how long only one place is looked at, in nanoseconds, and for what part of the time in which nothing has come from
    /// elsewhere: nobody who calls from time to time is late by more than a hundredth of that time for another's sake.
    static let longestNeglect: Int64 = 50_000
    static let silencePerNeglect: Int64 = 100
    /// How much trust there is at first, and at most. It outlasts the proof: looking out pays when both ends do it, and this one
    /// goes on until the other has found that its sleeps are short now.
    private static let mostTrust = 4 * proof

    /// How long to look out before sleeping, in nanoseconds: for two thirds of a short sleep, since one of the two wakings is
    /// still needed if the other end sleeps.
    private(set) var time = Lookout.leastTime
    /// What takes longer to come was not worth looking for: a find counts when looking for it has cost no more than sleeping
    /// would have, at both ends. A call made after the other takes them less than half the processor time then, and a fifth of
    /// the time.
    private var longestFind = Lookout.leastTime

    /// What speaks for looking out. A miss weighs twice as much as a hit, so that a wait which comes to nothing every
    /// second time, as between calls that are made now and then, is slept through.
    private var trust = 0
    /// What speaks for beginning, in the same way: a long sleep takes back two short ones. All of them it may not, since the
    /// system makes one long now and then whoever comes.
    private var shortSleeps = 0
    /// What they have lasted of late, in nanoseconds.
    private var shortSleep: Int64 = 0
    /// How many short sleeps it takes to begin, and how much has been found since it did.
    private var proofToBegin = Lookout.proof
    private var hits = 0
    /// From where something came last, and how often in a row before that.
    private var last = UInt64.max
    private var repetitions = 0
    /// Since when there has been nothing from anywhere else; known from the first look everywhere on.
    private var aloneSince: Instant?
    private var looksEverywhereAt = Instant(nanoseconds: .min)

    var isWorthwhile: Bool { trust > 0 }

    /// The loop has looked out for so many nanoseconds, and something came or not.
    mutating func lookedOut(for duration: Int64, hasFound: Bool) {
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

    /// The loop has slept for so long without looking out before.
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

    // MARK: where

    /// The only place to look at; nil is everywhere. Where something has come from again and again it can be taken without
    /// asking first whether it is there, but what has come elsewhere waits no longer than it must.
    func likeliest(at now: Instant) -> UInt64? {
        repetitions >= Self.proof && now < looksEverywhereAt ? last : nil
    }

    mutating func lookedEverywhere(at now: Instant) {
        let start = aloneSince ?? now
        aloneSince = start
        let neglect = min(start.nanoseconds(to: now) / Self.silencePerNeglect, Self.longestNeglect)
        looksEverywhereAt = now.advanced(byNanoseconds: neglect)
    }

    /// The system has told of something that has come there.
    mutating func came(from tag: UInt64) {
        guard tag != last else { return repetitions = min(repetitions + 1, Self.proof) }
        (last, repetitions, aloneSince) = (tag, 0, nil)
    }

    /// Whether nothing has come from anywhere else lately.
    func isQuiet(besides tag: UInt64) -> Bool { last == tag && repetitions >= Self.proof }
}
