// One network, one client, a few calls, and chance: reply, error, deadline, cancellation, loss, delay, half-open
// connections, slow readers, partial writes, claims by others, transfers, resumption, restart, drain and close, over a simulated
// network on a manual clock. After every step it is looked at what must always hold, and at the end what must hold then.

import RPCSockets
import RPCWire
import TestSupport

@testable import RemoteProxy

final class InterleavingStory {
    private static let timeout = Duration.milliseconds(200)
    /// How many of the last events a failure names.
    private static let eventsTold = 40

    private var random: SeededGenerator
    private let network: SimulatedNetwork
    private let probe: RecordingProbe
    private let client: RPCClient
    private let history: CallHistory
    private let watch: InterleavingWatch
    private let transfers: InterleavedTransfers
    private var calls: [Task<Void, Never>] = []
    /// The posts that were lost, as the client has said, or the server that had received them.
    private let toldPosts = Lock(ToldPosts())
    private var (isClosed, refusedPosts) = (false, 0)
    /// Those that were told that the connection was lost.
    private let lost = Lock<[Int]>([])
    /// Nothing has happened after which something may be lost.
    private var isLossless = true
    /// What was done to the network, and what came of it, with the time and the step.
    private let events = Lock<[String]>([])

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let heard: @Sendable (String) -> Void = { [toldPosts, events] line in
            toldPosts.withLock { $0.note(line) }
            events.withLock { $0.append("the log: \(line)") }
        }
        network = SimulatedNetwork(log: heard)
        history = CallHistory { [loop = network.loop] in loop.now }
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        network.exports.add(SettlerProxy(ProbeSettler(probe: probe)), named: nil)
        var configuration = RPCClient.Configuration()
        configuration.timeout = Self.timeout
        configuration.log = { heard($0.message) }
        client = network.client(configuration)
        watch = InterleavingWatch(network, probe, history, client.requester) { [events, loop = network.loop] number in
            Self.note("post \(number) has come", in: events, loop)
        }
        transfers = InterleavedTransfers(network, client)
        network.loop.afterEachStep { [watch, transfers] in
            watch.look()
            transfers.look()
        }
        // In every other story some subjects return to find that the loop has gone on without them.
        guard seed % 4 >= 2 else { return }
        let chance = Lock(SeededGenerator(seed: ~seed))
        network.loop.whenTakenBack { chance.withLock { Int.random(in: 0..<4, using: &$0) == 0 } }
    }

    var steps: Int { network.loop.steps }
    var trace: [String] { events.withLock { $0 } }

    private func note(_ event: String) { Self.note(event, in: events, network.loop) }

    private static func note(_ event: String, in events: Lock<[String]>, _ loop: ManualLoop) {
        events.withLock { $0.append("step \(loop.steps) at \(loop.now.nanoseconds / 1_000_000) ms: \(event)") }
    }

    /// Plays to the end and tells what was wrong.
    func play() -> [String] {
        for _ in 0..<Int.random(in: 4...12, using: &random) {
            // As if on the loop: elsewhere callers share threads, and no seed decides about those.
            network.loop.pretend { happen() }
            for _ in 0..<Int.random(in: 0...12, using: &random) where !network.loop.step() { break }
        }
        network.inject(WireFaults())
        network.injectFromServer(WireFaults())
        network.isServing = true
        network.giveUpSilentConnections()
        // Past every deadline: whoever has not ended by then never will.
        network.loop.advance(by: .seconds(60))
        var faults = watch.faults + transfers.audit() + audit()
        // What led there: most faults are known only some steps after their cause.
        if !faults.isEmpty { faults.append("after\n" + trace.suffix(Self.eventsTold).joined(separator: "\n")) }
        client.close()
        network.shutDown()
        note("the end")
        return faults
    }

    private func happen() {
        switch Int.random(in: 0..<22, using: &random) {
        case 0...5: call()
        case 19, 20: transfer()
        case 6:
            note("a call is cancelled")
            calls.randomElement(using: &random)?.cancel()
        case 7:
            let how = WireFaults.Breakage.allCases.randomElement(using: &random) ?? .reset
            note("cut by \(how)")
            network.cut(how)
        case 8: network.loop.advance(by: .milliseconds(Int.random(in: 1...150, using: &random)))
        case 9: network.isServing.toggle()
        case 10: lose("drain", network.drain)
        case 11: network.inject(someFaults("to the server"))
        case 12 where Int.random(in: 0..<4, using: &random) == 0: lose("close", close)
        case 13:
            note("all connections are given up by the client")
            network.giveUpSilentConnections()
        case 14 where Int.random(in: 0..<4, using: &random) == 0: lose("restart", network.restart)
        case 15: network.injectFromServer(someFaults("from the server"))
        case 16:
            let (isHeld, link) = (Bool.random(using: &random), Int.random(in: 0..<4, using: &random))
            note("link \(link) is \(isHeld ? "held" : "let go")")
            network.hold(isHeld, link: link)
        case 17:
            note("all connections are given up by the server")
            network.giveUpByServer()
        case 18: claim()
        default: post()
        }
    }

    private func lose(_ what: String, _ event: () -> Void) {
        note(what)
        isLossless = false
        event()
    }

    private func close() {
        isClosed = true
        client.close()
    }

    private func call() {
        let number = calls.count
        let kind = Int.random(in: 0..<5, using: &random)
        let wait = Int.random(in: 0...300, using: &random)
        note("call \(number) of kind \(kind)")
        watch.called(number, mayRepeat: kind == 4)
        let place = history.begin(CallName(0, number), deadline: Self.timeout)
        let report = Self.report(calling: number, history, events, network.loop)
        let making = Self.making(number, kind: kind, wait: wait, at: client, lost)
        calls.append(Task(executorPreference: network.loop) { report(place, await making()) })
    }

    private static func report(
        calling number: Int, _ history: CallHistory, _ events: Lock<[String]>, _ loop: ManualLoop
    ) -> @Sendable (_ place: Int, CallEnding) -> Void {
        { place, ending in
            history.end(place, ending)
            note("call \(number) ended: \(ending)", in: events, loop)
        }
    }

    private static func making(
        _ number: Int, kind: Int, wait: Int, at client: RPCClient, _ lost: Lock<[Int]>
    ) -> @Sendable () async -> CallEnding {
        { await end(of: number, kind: kind, wait: wait, at: client, lost) }
    }

    private static func end(
        of number: Int, kind: Int, wait: Int, at client: RPCClient, _ lost: Lock<[Int]>
    ) async -> CallEnding {
        let proxy = ProbeProxy(client)
        do {
            switch kind {
            case 0: return .executed(try await proxy.fail(number))
            case 1: return .executed(try await proxy.wait(number, milliseconds: wait))
            case 4: return .executed(try await SettlerProxy(client).settle(number, milliseconds: wait))
            default: return .executed(try await proxy.echo(number))
            }
        } catch {
            if let error = error as? RPCError, error.code == .connectionLost { lost.withLock { $0.append(number) } }
            return CallEnding(error) { ($0 as? ProbeFailure)?.number ?? -1 }
        }
    }

    private func post() {
        note("post \(watch.posts)")
        if isClosed { refusedPosts += 1 }
        ProbeProxy(client).note(watch.posted())
    }

    private func transfer() {
        let isFromClient = Bool.random(using: &random)
        if transfers.send(fromClient: isFromClient) { note("a transfer \(isFromClient ? "to" : "from") the server") }
    }

    /// Another end claims the client's session, as the client itself does that has connected twice, and then says nothing.
    private func claim() {
        let session = network.loop.pretend { Link.resumable(by: client.requester) }
        guard let session, let stream = try? network.rawStream() else { return }
        note("a claim")
        stream.open(DeafEnd())
        let received = #"{"requests":0,"replies":0}"#
        let resumption = #"{"session":"\#(session.id)","received":\#(received)}"#
        let hello = #"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":1,"resume":\#(resumption)}}"#
        Bytes(hello).withUnsafeBytes { _ = stream.append($0, framing: .lines) }
        stream.flush()
    }

    private func someFaults(_ way: String) -> WireFaults {
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
        note("\(way) \(faults)")
        return faults
    }

    private func audit() -> [String] {
        let check = HistoryCheck(history.calls)
        let broken =
            check.faults(executions: watch.executions)
            + check.faultsInEnding(slack: .zero)
            + HistoryCheck.faults(posts: postsSeen, sent: [0: watch.posts])
        var faults = broken.map { "\($0)" }
        if client.requester.pendingCalls > 0 {
            faults.append("\(client.requester.pendingCalls) calls are still in the table")
        }
        let lost = lost.withLock { $0 }
        let missing = watch.posts - probe.noted.count - refusedPosts
        if let fault = toldPosts.withLock({ $0 }).fault(missing: missing) {
            let ran = Set(probe.noted)
            let lacking = (0..<watch.posts).filter { !ran.contains($0) }
            faults.append("\(fault): of \(watch.posts) these have not come: \(lacking), \(refusedPosts) were refused")
        }
        if isLossless, !lost.isEmpty { faults.append("the calls \(lost) were lost") }
        return faults
    }

    /// Where posts were lost between others of one session, each counts as a session: order is all that is left to check.
    private var postsSeen: [PostSeen] {
        let arePostsLost = toldPosts.withLock { $0.unsent > 0 }
        return probe.notedFrom.enumerated().map { index, post in
            PostSeen(CallName(0, post.number), session: arePostsLost ? "\(index)" : post.session)
        }
    }
}

/// One end of a connection that listens to nothing.
private final class DeafEnd: ByteReceiver {
    func received(_ bytes: Bytes) {}
    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {}
}
