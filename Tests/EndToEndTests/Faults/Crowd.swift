// Many callers who share one client, and the history of what each of them asked and was told.

import Faults
import RPCSockets
import RPCWire
import RemoteProxy
import Synchronization
import TestSupport

final class Crowd: Sendable {
    let history = CallHistory()
    private let ledger: any Faults.Ledger
    private let timeout: Duration
    private let mayRepeat: Bool
    private let posts = Lock<[Int: Int]>([:])
    private let finished = Lock((count: 0, waiting: [(goal: Int, waiter: CheckedContinuation<Void, Never>)]()))
    private let isOver = Atomic(false)
    private let lateness = Lock(Duration.zero)

    /// - Parameters:
    ///   - timeout: what each call may take.
    ///   - mayRepeat: whether they ask for what may run more than once, and not to be counted.
    convenience init(_ client: RPCClient, timeout: Duration = .seconds(60), mayRepeat: Bool = false) {
        self.init(calling: Faults.LedgerProxy(client), timeout: timeout, mayRepeat: mayRepeat)
    }

    init(calling ledger: any Faults.Ledger, timeout: Duration = .seconds(60), mayRepeat: Bool = false) {
        self.ledger = ledger
        self.timeout = timeout
        self.mayRepeat = mayRepeat
    }

    /// How many posts each caller has made.
    var posted: [Int: Int] { posts.withLock { $0 } }
    /// How late the machine itself may have made a call. A deadline wakes the loop's thread, and that the caller's; one who had
    /// only slept while they called was woken half as late as this at worst.
    var machineLateness: Duration { lateness.withLock { $0 * 2 } }

    /// Has every caller call so many times, one call after the other; fewer when told to stop.
    /// - Parameters:
    ///   - milliseconds: how long the subject takes over some of the calls.
    ///   - isPosting: whether a post goes before every tenth.
    func call(by callers: Int = 64, times: Int = .max, slowly milliseconds: Int = 0, isPosting: Bool = true) async {
        let watch = Lateness()
        defer { lateness.withLock { $0 = max($0, watch.stop()) } }
        await withTaskGroup { group in
            for caller in 0..<callers {
                group.addTask { [self] in
                    for number in 0..<times {
                        if isOver.load(ordering: .relaxed) { break }
                        if isPosting, number % 10 == 0 { post(by: caller) }
                        await call(CallName(caller, number), milliseconds: number % 5 == 0 ? milliseconds : 0)
                    }
                }
            }
        }
    }

    func stop() { isOver.store(true, ordering: .relaxed) }

    /// Returns when so many more calls have ended.
    func proceed(by count: Int) async {
        await withCheckedContinuation { waiter in
            finished.withLock { $0.waiting.append((goal: $0.count + count, waiter)) }
        }
    }

    private func finish() {
        let due = finished.withLock { finished in
            finished.count += 1
            let due = finished.waiting.filter { $0.goal <= finished.count }
            if !due.isEmpty { finished.waiting.removeAll { $0.goal <= finished.count } }
            return due
        }
        for (_, waiter) in due { waiter.resume() }
    }

    private func call(_ name: CallName, milliseconds: Int) async {
        await history.call(name, deadline: timeout) {
            try await withCallTimeout(timeout) {
                if mayRepeat { return try await ledger.again(number: name.number) }
                return milliseconds == 0
                    ? try await ledger.add(caller: name.caller, number: name.number)
                    : try await ledger.addSlowly(
                        caller: name.caller, number: name.number, milliseconds: milliseconds)
            }
        }
        finish()
    }

    private func post(by caller: Int) {
        let number = posts.withLock { posts in
            defer { posts[caller, default: 0] += 1 }
            return posts[caller, default: 0]
        }
        ledger.note(caller: caller, number: number)
    }
}

extension [CallRecord] {
    func count(_ ending: CallEnding) -> Int { count { $0.endings.first?.ending == ending } }
    /// Calls with an answer.
    var answered: Int { count { if case .executed(.some) = $0.endings.first?.ending { true } else { false } } }
}
