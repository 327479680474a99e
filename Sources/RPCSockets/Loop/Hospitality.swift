// Whether a loop has callers go on where their answers came in. Pure: when answers came and how long guests stayed, whether
// the next are welcome.
//
// A guest that does little but call again is served best here. One that computes belongs where there are more processors,
// and one that sleeps where it is in nobody's way. So each earns what it may stay and pays for what it stays, and when that
// is used up the house is closed for some time, each time for longer. Only who has been alone for some time may stay longer
// and does not pay: nobody waits for it to go.

package import RPCWire

package struct Hospitality {
    /// How much may be saved, in nanoseconds, and the most that a stay counts for beside what the others of it have earned:
    /// then another thread has the loop.
    static let mostSaved: Int64 = 2_000_000
    /// What is saved when the house opens again.
    static let savedAtOpening: Int64 = 500_000
    /// How long one may stay that is alone, in nanoseconds: a few times what it costs to be woken elsewhere.
    static let longestAlone: Int64 = 200_000
    private static let proofOfBeingAlone = 4
    /// How many times as seldom one that is alone may call.
    private static let patienceWithOne: Int64 = 10
    /// How long nobody is welcome, in nanoseconds, first and at most.
    static let firstClosure: Int64 = 16_000_000
    static let longestClosure: Int64 = 2_048_000_000

    private let earned: Int64
    private let longestLull: Int64
    private var saved: Int64 = Hospitality.mostSaved
    private var lastAnswer = Instant(nanoseconds: .min)
    private var opensAt = Instant(nanoseconds: .min)
    private var nextClosure = Hospitality.firstClosure
    private var lastAlone: ObjectIdentifier?
    private var aloneInARow = 0

    /// - Parameters:
    ///   - earned: how long each guest may stay on average: a few times what it costs to have a task run elsewhere.
    ///   - longestLull: answers that come more seldom are for callers that do something else between.
    package init(earned: Duration = .microseconds(10), longestLull: Duration = .milliseconds(1)) {
        self.earned = earned.nanoseconds
        self.longestLull = longestLull.nanoseconds
    }

    /// Answers have come. Whether those who waited for them are to go on here.
    /// - Parameter peer: whose only caller this is, if there are no others.
    mutating func welcomes(onlyOf peer: ObjectIdentifier?, at now: Instant) -> Bool {
        aloneInARow = peer != nil && peer == lastAlone ? aloneInARow + 1 : 0
        lastAlone = peer
        defer { lastAnswer = now }
        let lull = isAlone ? longestLull * Self.patienceWithOne : longestLull
        return isOpen(at: now) && now < lastAnswer.advanced(byNanoseconds: lull)
    }

    /// Whether one and the same has been the only one for some time.
    private var isAlone: Bool { aloneInARow >= Self.proofOfBeingAlone }

    func isOpen(at now: Instant) -> Bool { now >= opensAt }

    /// Guests have gone that stayed so many nanoseconds in all.
    mutating func left(at now: Instant, after stay: Int64, guests: Int = 1) {
        let stay = isAlone ? max(0, stay - Self.longestAlone) : stay
        let most = Self.mostSaved + earned * Int64(guests - 1)
        saved = min(saved + earned * Int64(guests) - min(stay, most), Self.mostSaved)
        if saved == Self.mostSaved { nextClosure = Self.firstClosure }
        if saved < 0 { close(at: now) }
    }

    /// A guest has kept the thread for so long that another has the loop now.
    mutating func wasAbused(at now: Instant) { close(at: now) }

    private mutating func close(at now: Instant) {
        saved = Self.savedAtOpening
        opensAt = now.advanced(byNanoseconds: nextClosure)
        nextClosure = min(nextClosure * 2, Self.longestClosure)
    }
}
