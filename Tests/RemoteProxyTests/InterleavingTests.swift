// Everything that can end a call, set against everything else in random order: reply, error, deadline, cancellation,
// loss, resumption, restart, drain and close, over a simulated network on a manual clock. Whatever the order, each call
// ends exactly once, gets only its own answer, runs once at most, and says truly what became of the work; and as long as
// the server lives and the client has time, nothing is lost. A failure names the seed that brings it back.

import Foundation
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite(.computesForLong) struct `Interleavings` {
    /// As many in all, unless `REMOTEPROXY_INTERLEAVINGS` says otherwise: more by `.ci/faults`, fewer where every step is
    /// watched and slow.
    private static let count = max(
        1_000, ProcessInfo.processInfo.environment["REMOTEPROXY_INTERLEAVINGS"].flatMap { Int($0) } ?? 2_000)
    /// Each part runs by itself, so that they spread over the processors.
    private static let parts = 2
    private static let perPart = count / parts

    @Test(arguments: 0..<parts)
    func `every call ends exactly once and truly`(_ part: Int) {
        if let fault = Self.firstFault(in: part) { Issue.record("\(fault)") }
    }

    private static func firstFault(in part: Int) -> String? {
        for seed in part * perPart..<(part + 1) * perPart {
            var story = Story(seed: UInt64(seed))
            let faults = story.play()
            if !faults.isEmpty { return "seed \(seed): \(faults.joined(separator: "; "))" }
        }
        return nil
    }
}

/// One network, one client, a few calls, and chance.
private struct Story {
    private static let timeout = Duration.milliseconds(200)

    private var random: SeededGenerator
    private let network: SimulatedNetwork
    private let probe: RecordingProbe
    private let client: RPCClient
    private let history: CallHistory
    private var calls: [Task<Void, Never>] = []
    private var posts = 0
    /// Some posts have found no connection in time, and the client has said so.
    private let arePostsLost = Lock(false)
    /// Those that were told that the connection was lost.
    private let lost = Lock<[Int]>([])
    /// Those that may be run twice.
    private var repeatable: Set<Int> = []
    /// Nothing has happened after which something may be lost.
    private var isLossless = true

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        network = SimulatedNetwork()
        history = CallHistory { [loop = network.loop] in loop.now }
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        network.exports.add(SettlerProxy(ProbeSettler(probe: probe)), named: nil)
        var configuration = RPCClient.Configuration()
        configuration.timeout = Self.timeout
        configuration.log = { [arePostsLost] line in
            if line.hasPrefix("posts that were not sent") { arePostsLost.withLock { $0 = true } }
        }
        client = network.client(configuration)
    }

    /// Plays to the end and tells what was wrong.
    mutating func play() -> [String] {
        for _ in 0..<Int.random(in: 4...12, using: &random) {
            happen()
            for _ in 0..<Int.random(in: 0...12, using: &random) where !network.loop.step() { break }
        }
        network.inject(WireFaults())
        network.isServing = true
        network.giveUpSilentConnections()
        // Past every deadline: whoever has not ended by then never will.
        network.loop.advance(by: .seconds(60))
        let faults = audit()
        client.close()
        network.shutDown()
        return faults
    }

    private mutating func happen() {
        switch Int.random(in: 0..<16, using: &random) {
        case 0...5: call()
        case 6: calls.randomElement(using: &random)?.cancel()
        case 7: network.cut(WireFaults.Breakage.allCases.randomElement(using: &random) ?? .reset)
        case 8: network.loop.advance(by: .milliseconds(Int.random(in: 1...150, using: &random)))
        case 9: network.isServing.toggle()
        case 10: lose(network.drain)
        case 11: injectFaults()
        case 12 where Int.random(in: 0..<4, using: &random) == 0: lose(client.close)
        case 13: network.giveUpSilentConnections()
        case 14 where Int.random(in: 0..<4, using: &random) == 0: lose(network.restart)
        default: post()
        }
    }

    private mutating func lose(_ event: () -> Void) {
        isLossless = false
        event()
    }

    private mutating func call() {
        let number = calls.count
        let (proxy, settler) = (ProbeProxy(client), SettlerProxy(client))
        let kind = Int.random(in: 0..<5, using: &random)
        if kind == 4 { repeatable.insert(number) }
        let wait = Int.random(in: 0...300, using: &random)
        let place = history.begin(CallName(0, number), deadline: Self.timeout)
        calls.append(
            Task(executorPreference: network.loop) { [history, lost] in
                do {
                    let value =
                        switch kind {
                        case 0: try await proxy.fail(number)
                        case 1: try await proxy.wait(number, milliseconds: wait)
                        case 4: try await settler.settle(number, milliseconds: wait)
                        default: try await proxy.echo(number)
                        }
                    history.end(place, .executed(value))
                } catch {
                    if let error = error as? RPCError, error.code == .connectionLost {
                        lost.withLock { $0.append(number) }
                    }
                    history.end(place, CallEnding(error) { ($0 as? ProbeFailure)?.number ?? -1 })
                }
            })
    }

    private mutating func post() {
        ProbeProxy(client).note(posts)
        posts += 1
    }

    private mutating func injectFaults() {
        var faults = WireFaults()
        faults.pieceSize = Int.random(in: 1...40, using: &random)
        faults.isHeld = Int.random(in: 0..<3, using: &random) == 0
        if Bool.random(using: &random) { faults.capacity = Int.random(in: 0...100, using: &random) }
        if Int.random(in: 0..<3, using: &random) == 0 {
            faults.breaksAt = (
                UInt64.random(in: 0...400, using: &random),
                WireFaults.Breakage.allCases.randomElement(using: &random) ?? .reset
            )
        }
        network.inject(faults)
    }

    private func audit() -> [String] {
        let check = HistoryCheck(history.calls)
        let broken =
            check.faults(executions: executions)
            + check.faultsInEnding(slack: .zero)
            + HistoryCheck.faults(posts: postsSeen, sent: [0: posts])
        var faults = broken.map { "\($0)" }
        if client.peer.pendingCalls > 0 { faults.append("\(client.peer.pendingCalls) calls are still in the table") }
        let lost = lost.withLock { $0 }
        if isLossless, !lost.isEmpty { faults.append("the calls \(lost) were lost") }
        if network.sessions.count > 1 + network.dials { faults.append("\(network.sessions.count) sessions are kept") }
        if network.sessions.keptReplies > 64 { faults.append("\(network.sessions.keptReplies) replies are kept") }
        return faults
    }

    /// Where posts were lost between others of one session, each counts as a session: order is all that is left to check.
    private var postsSeen: [PostSeen] {
        let arePostsLost = arePostsLost.withLock { $0 }
        return probe.notedFrom.enumerated().map { index, post in
            PostSeen(CallName(0, post.number), session: arePostsLost ? "\(index)" : post.session)
        }
    }

    /// What ran, each call once if it may run again.
    private var executions: [Execution] {
        var seen: Set<Int> = []
        return probe.executed.compactMap { number in
            guard seen.insert(number).inserted || !repeatable.contains(number) else { return nil }
            return Execution(CallName(0, number), result: number)
        }
    }
}
