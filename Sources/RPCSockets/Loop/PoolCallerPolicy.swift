// Whether callers of the ordinary pool go on where their answers came in. Pure: when answers came and how long hosted jobs
// stayed, whether the next ones are admitted.
//
// A caller that hardly does more than call again costs least on the loop's thread: no other thread has to be woken for it. One
// that computes belongs where there are more processors, and one that sleeps belongs where it keeps no other caller waiting. So
// each job earns some time, and pays for the time that it stays. When all is used up the loop hosts no jobs for a while, and
// each time for longer. A caller that has been the only one for some time may stay longer without paying.

import RPCWire

package struct PoolCallerPolicy {
    /// How much time may be saved, in nanoseconds. A single stay costs no more than this beside what the others of the same turn
    /// have earned: a job that stays longer loses the loop to another thread anyway.
    static let mostSaved: Int64 = 2_000_000
    /// How much is saved when jobs are hosted again.
    static let savedAtReturn: Int64 = 500_000
    /// How long the job of an only caller may stay unpaid, in nanoseconds: a few times what waking another thread costs.
    static let longestAlone: Int64 = 200_000
    private static let proofOfBeingAlone = 4
    /// How many times as long an only caller may take between its calls.
    private static let patienceWithOne: Int64 = 10
    /// For how long no jobs are hosted, in nanoseconds: the first time, and at most.
    static let firstPause: Int64 = 16_000_000
    static let longestPause: Int64 = 2_048_000_000

    private let earned: Int64
    private let longestLull: Int64
    private var saved = PoolCallerPolicy.mostSaved
    private var lastAnswer = Instant(nanoseconds: .min)
    private var hostsFrom = Instant(nanoseconds: .min)
    private var nextPause = PoolCallerPolicy.firstPause
    private var lastAlone: ObjectIdentifier?
    private var aloneInARow = 0

    /// - Parameters:
    ///   - earned: how long each job may stay on average: a few times what it costs to have a task run elsewhere.
    ///   - longestLull: answers that come more seldom are for callers that do something else in between.
    package init(earned: Duration = .microseconds(10), longestLull: Duration = .milliseconds(1)) {
        self.earned = earned.nanoseconds
        self.longestLull = longestLull.nanoseconds
    }

    /// Answers have come. Returns whether the callers that waited for them are to go on here.
    /// - Parameter peer: the peer whose only caller this is, if there are no others.
    mutating func admits(onlyOf peer: ObjectIdentifier?, at now: Instant) -> Bool {
        aloneInARow = peer != nil && peer == lastAlone ? aloneInARow + 1 : 0
        lastAlone = peer
        defer { lastAnswer = now }
        let lull = isAlone ? longestLull * Self.patienceWithOne : longestLull
        return isHosting(at: now) && now < lastAnswer.advanced(byNanoseconds: lull)
    }

    /// Whether one and the same caller has been the only one for some time.
    private var isAlone: Bool { aloneInARow >= Self.proofOfBeingAlone }

    func isHosting(at now: Instant) -> Bool { now >= hostsFrom }

    /// Jobs have gone that stayed so many nanoseconds in all.
    mutating func left(at now: Instant, after stay: Int64, jobs: Int = 1) {
        let stay = isAlone ? max(0, stay - Self.longestAlone) : stay
        let most = Self.mostSaved + earned * Int64(jobs - 1)
        saved = min(saved + earned * Int64(jobs) - min(stay, most), Self.mostSaved)
        if saved == Self.mostSaved { nextPause = Self.firstPause }
        if saved < 0 { pause(at: now) }
    }

    /// A job has kept the thread for so long that another thread has the loop.
    mutating func lostThread(at now: Instant) { pause(at: now) }

    private mutating func pause(at now: Instant) {
        saved = Self.savedAtReturn
        hostsFrom = now.advanced(byNanoseconds: nextPause)
        nextPause = min(nextPause * 2, Self.longestPause)
    }
}

/// The jobs of the pool that a loop's thread runs.
struct Hosting {
    /// Jobs that follow each other directly are one stay, and pay for it together: to read the clock for each is a part of a
    /// call that can be measured.
    private static let mostJobsPerStay = 8

    var policy: PoolCallerPolicy
    /// Whether such a job has the thread.
    private(set) var hasThread = false
    /// When the present stay began; nil between stays.
    private var begin: Instant?
    /// When a stay began in which there is room for another job.
    var beginOfStay: Instant? { jobs < Self.mostJobsPerStay ? begin : nil }
    private var jobs = 0

    init(_ policy: PoolCallerPolicy) { self.policy = policy }

    /// Answers whether the job may run here.
    /// - Parameter begin: when its stay began, or now.
    mutating func beginJob(stayingSince begin: Instant) -> Bool {
        if jobs == Self.mostJobsPerStay { endStay() }
        guard policy.isHosting(at: begin) else { return false }
        (self.begin, hasThread) = (begin, true)
        return true
    }

    mutating func endJob() {
        hasThread = false
        jobs += 1
    }

    /// The next item of the queue is of another kind, or there is none.
    mutating func endStay() {
        guard let begin else { return }
        // A job that has called may have gone on with something else, so the time is read now.
        let end = MonotonicClock.now
        policy.left(at: end, after: begin.nanoseconds(to: end), jobs: jobs)
        (self.begin, jobs) = (nil, 0)
    }

    /// A job has kept the thread, and another thread goes on.
    mutating func lostThread(at now: Instant) {
        (hasThread, begin, jobs) = (false, nil, 0)
        policy.lostThread(at: now)
    }
}
