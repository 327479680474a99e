// Decides whether callers of the ordinary pool continue on the loop's thread that received their answers. Pure: the times of
// answers and of hosted jobs in, a decision out.
//
// A caller that mostly calls again costs least on the loop's thread: no other thread must be woken. A caller that computes
// belongs on another processor, and a caller that sleeps must not delay others. So each job earns some time, and pays for the
// time that it stays. When the saved time is used up, the loop hosts no jobs for a pause. Pauses get longer until the savings
// are full again. A caller that has been alone for some time may stay longer without paying.

import RPCWire

package struct PoolCallerPolicy {
    /// How much time may be saved, in nanoseconds. A single stay costs at most this much, plus what the other jobs of the same
    /// stay have earned. A job that stays longer loses the loop to another thread anyway.
    static let mostSaved: Int64 = 2_000_000
    /// How much time is saved when a pause begins, for use after it.
    static let savedAtReturn: Int64 = 500_000
    /// How long the job of a lone caller may stay without paying, in nanoseconds. It is a few times the cost of waking a
    /// thread.
    static let longestAlone: Int64 = 200_000
    private static let proofOfBeingAlone = 4
    /// How many times as long a lone caller may take between its calls.
    private static let patienceWithOne: Int64 = 10
    /// The length of the first pause and of the longest one, in nanoseconds.
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
    ///   - earned: how long each job may stay on average: a few times the cost of running a task on another thread.
    ///   - longestLull: if answers come less often than this, their callers do other things in between, and are not hosted.
    package init(earned: Duration = .microseconds(10), longestLull: Duration = .milliseconds(1)) {
        self.earned = earned.nanoseconds
        self.longestLull = longestLull.nanoseconds
    }

    /// Answers have arrived. Returns whether their callers continue on this thread.
    /// - Parameter peer: the peer whose only waiting caller this is; nil if other callers wait as well.
    mutating func admits(onlyOf peer: ObjectIdentifier?, at now: Instant) -> Bool {
        aloneInARow = peer != nil && peer == lastAlone ? aloneInARow + 1 : 0
        lastAlone = peer
        defer { lastAnswer = now }
        let lull = isAlone ? longestLull * Self.patienceWithOne : longestLull
        return isHosting(at: now) && now < lastAnswer.advanced(byNanoseconds: lull)
    }

    /// Whether the same peer has had the only caller for some time.
    private var isAlone: Bool { aloneInARow >= Self.proofOfBeingAlone }

    func isHosting(at now: Instant) -> Bool { now >= hostsFrom }

    /// Jobs have ended that stayed for this many nanoseconds together.
    mutating func left(at now: Instant, after stay: Int64, jobs: Int = 1) {
        let stay = isAlone ? max(0, stay - Self.longestAlone) : stay
        let most = Self.mostSaved + earned * Int64(jobs - 1)
        saved = min(saved + earned * Int64(jobs) - min(stay, most), Self.mostSaved)
        if saved == Self.mostSaved { nextPause = Self.firstPause }
        if saved < 0 { pause(at: now) }
    }

    /// A job has blocked the thread, and another thread has taken the loop.
    mutating func lostThread(at now: Instant) { pause(at: now) }

    private mutating func pause(at now: Instant) {
        saved = Self.savedAtReturn
        hostsFrom = now.advanced(byNanoseconds: nextPause)
        nextPause = min(nextPause * 2, Self.longestPause)
    }
}

/// The pool's jobs that a loop's thread runs.
struct Hosting {
    /// How many jobs that directly follow each other form one stay and pay together. Reading the clock for each job would cost
    /// a measurable part of a call.
    private static let mostJobsPerStay = 8

    var policy: PoolCallerPolicy
    /// Whether such a job is running on the thread.
    private(set) var hasThread = false
    /// When the present stay began; nil between stays.
    private var begin: Instant?
    /// The same if the stay has room for another job, else nil.
    var beginOfStay: Instant? { jobs < Self.mostJobsPerStay ? begin : nil }
    private var jobs = 0

    init(_ policy: PoolCallerPolicy) { self.policy = policy }

    /// Returns whether the job may run here.
    /// - Parameter begin: when its stay began; now for a new stay.
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

    /// Ends the stay, because the next item of the queue is of another kind, or there is none.
    mutating func endStay() {
        guard let begin else { return }
        // The clock is read here, because the last job may have gone on computing after its call.
        let end = MonotonicClock.now
        policy.left(at: end, after: begin.nanoseconds(to: end), jobs: jobs)
        (self.begin, jobs) = (nil, 0)
    }

    /// A job has blocked the thread, and another thread has taken the loop.
    mutating func lostThread(at now: Instant) {
        (hasThread, begin, jobs) = (false, nil, 0)
        policy.lostThread(at: now)
    }
}
