// What must hold at every moment of an interleaving: looked at after every step, so that a fault is known by the step
// that made it.

import RPCWire
import RemoteProxy
import TestSupport

/// `@unchecked Sendable`: all of it is touched on the thread that runs the story only.
final class InterleavingWatch: @unchecked Sendable {
    private let network: SimulatedNetwork
    private let probe: RecordingProbe
    private let history: CallHistory
    private let requester: Requester
    private let postCame: @Sendable (Int) -> Void
    /// How often each call has run.
    private var runs: [Int] = []
    /// Those that may be run twice.
    private var repeatable: Set<Int> = []
    private var (seenRuns, seenPosts, lastPost) = (0, 0, -1)
    private(set) var posts = 0
    /// What was wrong first.
    private(set) var faults: [String] = []

    init(
        _ network: SimulatedNetwork, _ probe: RecordingProbe, _ history: CallHistory, _ requester: Requester,
        postCame: @escaping @Sendable (Int) -> Void
    ) {
        (self.network, self.probe, self.history, self.requester) = (network, probe, history, requester)
        self.postCame = postCame
    }

    func called(_ number: Int, mayRepeat: Bool) {
        runs.append(0)
        if mayRepeat { repeatable.insert(number) }
    }

    func posted() -> Int {
        defer { posts += 1 }
        return posts
    }

    /// What ran, each call once if it may run again.
    var executions: [Execution] {
        var seen: Set<Int> = []
        return probe.executed.compactMap { number in
            guard seen.insert(number).inserted || !repeatable.contains(number) else { return nil }
            return Execution(CallName(0, number), result: number)
        }
    }

    func look() {
        guard faults.isEmpty else { return }
        lookAtEnds()
        lookAtRuns()
        lookAtPosts()
        lookAtSizes()
    }

    private func fault(_ what: String) { faults.append("step \(network.loop.steps): \(what)") }

    /// Each call ends once, and with its own answer.
    private func lookAtEnds() {
        for call in history.calls {
            if call.endings.count > 1 { fault("\(call.name) ended \(call.endings.count) times") }
            if case .executed(let result?) = call.endings.first?.ending, result != call.name.number {
                fault("\(call.name) was given \(result)")
            }
        }
    }

    /// Each call runs once at most, but for those that may repeat.
    private func lookAtRuns() {
        let executed = probe.executed
        for number in executed[seenRuns...] {
            guard runs.indices.contains(number) else { return fault("\(number) ran, and nobody called it") }
            runs[number] += 1
            if runs[number] > 1, !repeatable.contains(number) { fault("call \(number) ran twice") }
        }
        seenRuns = executed.count
    }

    /// Posts come in order, and none twice.
    private func lookAtPosts() {
        let noted = probe.noted
        for number in noted[seenPosts...] {
            postCame(number)
            if number <= lastPost || number >= posts { fault("post \(number) came after \(lastPost) of \(posts)") }
            lastPost = number
        }
        seenPosts = noted.count
    }

    /// No table holds more than there is a reason for.
    private func lookAtSizes() {
        if requester.pendingCalls > runs.count {
            fault("\(requester.pendingCalls) of \(runs.count) calls are in the table")
        }
        if requester.pendingPosts > posts { fault("\(requester.pendingPosts) of \(posts) posts are kept") }
        // One for each connection at most, and of those only such as were not resumed.
        if network.sessions.count > network.dials {
            fault("\(network.sessions.count) sessions for \(network.dials) dials")
        }
        // An answer for each call, and one for each time that it came again; and those of pings, until it is told that
        // they have come.
        let replies = network.keptReplies
        if replies > runs.count * (1 + network.dials) + Receipts.interval { fault("\(replies) replies are kept") }
    }
}
