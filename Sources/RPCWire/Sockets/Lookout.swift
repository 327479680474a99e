// Whether a loop that has nothing to do looks out for a moment before it sleeps, because being woken costs more than the
// wait. Pure: how waits ended and from where something came in, whether to look out next time and where.
//
// Looking out burns a processor, so it has to pay: it ends soon after nothing comes of it, and begins when sleeps were
// so short that looking out would have caught what ended them.

struct Lookout {
    /// For about what it costs to fall asleep and to be woken. What comes to nothing has then cost twice a sleep at most, and
    /// what does not has saved one, and the other end a wake-up: a call made after the other takes both ends less than half
    /// the processor time, and a fifth of the time.
    static let brief = Lookout(for: 25_000)
    /// For longer than that: latency for processor time.
    static let long = Lookout(for: 50_000)

    /// How long being woken may take, in nanoseconds, here and at the other end: so much earlier what ended a sleep would have
    /// come, had neither slept.
    private static let wakingUp: Int64 = 80_000

    /// How long to look out before sleeping, in nanoseconds.
    let time: Int64
    /// For how long only one place is looked at, in nanoseconds.
    var longestNeglect: Int64 { time / 5 }
    /// How many in a row tell what the next wait will be like.
    private static let proof = 8
    /// Having found less than that before it gave up it wants twice the proof next time: where others want the processors
    /// too, sleeps are short and still nothing comes in time while one looks out.
    private static let worthTheProof = 128
    private static let mostProof = 1_024
    /// How much trust there is at first, and at most. It outlasts the proof: looking out pays when both ends do it, and this one
    /// goes on until the other has found that its sleeps are short now.
    private static let mostTrust = 4 * proof

    /// What speaks for looking out. A miss weighs twice as much as a hit, so that a wait which comes to nothing every
    /// second time, as between calls that are made now and then, is slept through.
    private var trust = 0
    /// What speaks for beginning, in the same way: a long sleep takes back two short ones. All of them it may not, since the
    /// system makes one long now and then whoever comes.
    private var shortSleeps = 0
    /// How many short sleeps it takes to begin, and how much has been found since it did.
    private var proofToBegin = Lookout.proof
    private var hits = 0
    /// From where something came last, and how often in a row before that.
    private var last = UInt64.max
    private var repetitions = 0
    private var lookedEverywhereAt = Instant(nanoseconds: .min)

    private init(for time: Int64) { self.time = time }

    var isWorthwhile: Bool { trust > 0 }

    /// The loop has looked out, and something came or not.
    mutating func lookedOut(hasFound: Bool) {
        guard !hasFound else {
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
        guard duration <= time + Self.wakingUp else { return shortSleeps = max(shortSleeps - 2, 0) }
        shortSleeps += 1
        guard shortSleeps >= proofToBegin else { return }
        (trust, shortSleeps) = (Self.mostTrust, 0)
    }

    // MARK: where

    /// The only place to look at; nil is everywhere. Where something has come from again and again it can be taken without
    /// asking first whether it is there, but what has come elsewhere waits no longer than it must.
    func likeliest(at now: Instant) -> UInt64? {
        guard repetitions >= Self.proof, now < lookedEverywhereAt.advanced(byNanoseconds: longestNeglect) else {
            return nil
        }
        return last
    }

    mutating func lookedEverywhere(at now: Instant) { lookedEverywhereAt = now }

    /// The system has told of something that has come there.
    mutating func came(from tag: UInt64) {
        repetitions = tag == last ? min(repetitions + 1, Self.proof) : 0
        last = tag
    }

    /// Whether nothing has come from anywhere else lately.
    func isQuiet(besides tag: UInt64) -> Bool { last == tag && repetitions >= Self.proof }
}
