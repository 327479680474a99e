// Whether a loop has callers go on where their answers came in. Pure: when answers came and how long guests stayed, whether
// the next are welcome.
//
// A guest that does little but call again is served best here. One that computes belongs where there are more processors,
// and one that sleeps where it is in nobody's way. So each earns what it may stay and pays for what it stays, and when that
// is used up the house is closed for some time, each time for longer. Only who has been alone for some time may stay longer
// and does not pay: nobody waits for it to go.

struct Hospitality {
    /// What each guest earns, in nanoseconds, and how much of that may be saved: about what it costs to have a task run
    /// elsewhere.
    static let earned: Int64 = 10_000
    static let mostSaved: Int64 = 500_000
    /// A stay counts for no more, in nanoseconds, since it may have been the machine that kept the thread.
    static let mostPaid: Int64 = 400_000
    /// How long one may stay that is alone, in nanoseconds: a few times what it costs to be woken elsewhere.
    static let longestAlone: Int64 = 200_000
    private static let proofOfBeingAlone = 4
    /// Answers that come more seldom are for callers that do something else between: in nanoseconds.
    static let longestLull: Int64 = 1_000_000
    /// How long nobody is welcome, in nanoseconds, first and at most.
    static let firstClosure: Int64 = 16_000_000
    static let longestClosure: Int64 = 2_048_000_000

    private var saved: Int64 = Hospitality.mostSaved
    private var lastAnswer = Instant(nanoseconds: .min)
    private var opensAt = Instant(nanoseconds: .min)
    private var nextClosure = Hospitality.firstClosure
    private var lastAlone: ObjectIdentifier?
    private var aloneInARow = 0

    /// Answers have come. Whether those who waited for them are to go on here.
    /// - Parameter connection: that of the only one, if there was only one.
    mutating func welcomes(onlyOf connection: ObjectIdentifier?, at now: Instant) -> Bool {
        aloneInARow = connection != nil && connection == lastAlone ? aloneInARow + 1 : 0
        lastAlone = connection
        defer { lastAnswer = now }
        return isOpen(at: now) && now < lastAnswer.advanced(byNanoseconds: Self.longestLull)
    }

    func isOpen(at now: Instant) -> Bool { now >= opensAt }

    /// A guest has gone after so many nanoseconds.
    mutating func left(at now: Instant, after stay: Int64) {
        let stay = aloneInARow < Self.proofOfBeingAlone ? stay : max(0, stay - Self.longestAlone)
        saved = min(saved + Self.earned - min(stay, Self.mostPaid), Self.mostSaved)
        if saved == Self.mostSaved { nextClosure = Self.firstClosure }
        if saved < 0 { close(at: now) }
    }

    /// A guest has kept the thread for so long that another has the loop now.
    mutating func wasAbused(at now: Instant) { close(at: now) }

    private mutating func close(at now: Instant) {
        saved = 0
        opensAt = now.advanced(byNanoseconds: nextClosure)
        nextClosure = min(nextClosure * 2, Self.longestClosure)
    }
}
