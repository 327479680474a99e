// Posts of one session to one object run one after the other, and what becomes of one is not to befall those that come after it.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
private protocol Desk: Sendable {
    func work() async
}

/// Takes a second for each post.
private final class SlowDesk: Desk {
    struct Work {
        var now = 0
        var most = 0
        var done = 0
    }

    let loop: ManualLoop
    let work: Lock<Work>
    init(_ loop: ManualLoop, _ work: Lock<Work>) { (self.loop, self.work) = (loop, work) }

    func work() async {
        work.withLock { work in
            work.now += 1
            work.most = max(work.most, work.now)
        }
        try? await loop.sleep(for: .seconds(1))
        work.withLock { work in
            work.now -= 1
            work.done += 1
        }
    }
}

@Suite struct `Posts behind one another` {
    private let loop = ManualLoop()
    private let link: Link
    private let log = Lock<[String]>([])
    private let object: ExportedObject

    init() {
        object = Exported.object(ProbeProxy(RecordingProbe(loop)), named: nil, number: 1)
        let context = LinkContext(runner: RequestRunner(loop: loop), exports: Exports(), sessions: SessionTable())
        link = Link(context)
        loop.submit { [link, loop] in link.open(FramedChannel(MemoryChannel.pair(on: loop).0, for: link), number: 1) }
        loop.run()
    }

    /// How many requests have begun and not ended.
    private var running: Int { loop.pretend { link.half.calls.count } }

    /// Asks the object, or another one, for a post that takes so long and then says who it is and whether its task has been cancelled.
    private func post(
        _ name: String, to other: ExportedObject? = nil, id: RPCIdentifier? = nil, milliseconds: Int = 0
    ) {
        let probe = RecordingProbe(loop)
        let post = Post<any Probe, Void>(name, of: _ServiceDescription("Notes"), proxy: { _ in probe }, coding: .none) {
            [loop, log] _, _ in
            if milliseconds > 0 { try? await loop.sleep(for: .milliseconds(milliseconds)) }
            log.withLock { $0.append(Task.isCancelled ? "\(name) cancelled" : name) }
        }
        guard let method = post.exported() else { return }
        let request = Request(id: id, method: Bytes("Notes.\(name)"), params: nil, timeout: nil)
        loop.pretend { link.start(method, of: other ?? object, for: request, in: nil) }
    }

    /// A post can be cancelled by a peer that has called it with an id, while it is on its way to an actor, say.
    @Test func `those behind one that was cancelled run all the same, in order, in a task that was not`() {
        post("slow", id: .integer(1), milliseconds: 1_000)
        for name in ["first", "second", "third"] { post(name) }
        loop.advance(by: .milliseconds(300))
        #expect(log.withLock { $0.isEmpty } && link.admission.waiting == 0 && link.admission.behindPosts == 3)
        loop.pretend { link.cancelRequest(.integer(1)) }
        loop.run()
        post("fourth")
        loop.run()
        #expect(log.withLock { $0 } == ["slow cancelled", "first", "second", "third", "fourth"])
        #expect(link.admission.waiting == 0 && link.runner.waitingLinks == 0)
        #expect(running == 0)
    }

    @Test func `those of an end that has left in good order still run when its session is over`() {
        post("slow", milliseconds: 1_000)
        for name in ["first", "second"] { post(name) }
        loop.advance(by: .milliseconds(300))
        #expect(log.withLock { $0.isEmpty })
        loop.pretend {
            link.saidGoodbye()
            link.end("gone")
        }
        loop.advance(by: .seconds(2))
        #expect(log.withLock { $0 } == ["slow", "first", "second"])
        #expect(running == 0)
    }

    @Test func `two that are cancelled one after the other keep nobody back`() {
        post("slow", id: .integer(1), milliseconds: 1_000)
        post("between")
        post("slower", id: .integer(2), milliseconds: 2_000)
        post("last")
        for id in [2, 1] as [Int64] {
            loop.advance(by: .milliseconds(100))
            loop.pretend { link.cancelRequest(.integer(id)) }
        }
        loop.run()
        // The second had not begun: it never does.
        #expect(log.withLock { $0 } == ["slow cancelled", "between", "last"])
        #expect(running == 0)
    }

    @Test func `those to other objects do not wait for them, and keep their own order`() {
        let others = (2...4).map { Exported.object(ProbeProxy(RecordingProbe(loop)), named: "\($0)", number: $0) }
        post("slow", milliseconds: 1_000)
        for (number, other) in others.enumerated() {
            post("begun \(number)", to: other, milliseconds: 500 + 50 * number)
            post("behind \(number)", to: other)
        }
        post("behind slow")
        loop.advance(by: .milliseconds(300))
        #expect(log.withLock { $0.isEmpty } && link.admission.behindPosts == 4 && link.admission.waiting == 0)
        loop.advance(by: .milliseconds(400))
        #expect(log.withLock { $0 } == ["begun 0", "behind 0", "begun 1", "behind 1", "begun 2", "behind 2"])
        loop.advance(by: .seconds(1))
        #expect(log.withLock { $0.suffix(2) } == ["slow", "behind slow"])
        #expect(running == 0 && link.admission.behindPosts == 0 && !link.posts.isRunning)
    }

    @Test func `those that wait behind posts to several objects are dropped with the session`() {
        let other = Exported.object(ProbeProxy(RecordingProbe(loop)), named: "other", number: 2)
        for object in [object, other] {
            post("slow", to: object, milliseconds: 1_000)
            for _ in 0..<3 { post("never", to: object) }
        }
        loop.advance(by: .milliseconds(300))
        loop.pretend { link.end("gone") }
        loop.run()
        #expect(log.withLock { $0 } == ["slow cancelled", "slow cancelled"])
        #expect(running == 0 && link.admission.behindPosts == 0)
    }

    @Test func `those to hundreds of objects run at once up to a limit, and none is lost`() async throws {
        let network = SimulatedNetwork()
        let work = Lock(SlowDesk.Work())
        for number in 0..<600 { network.exports.add(DeskProxy(SlowDesk(network.loop, work)), named: "\(number)") }
        let client = network.client()
        let desks = (0..<600).map { DeskProxy(client, named: "\($0)") }
        try network.loop.complete { for desk in desks { await desk.work() } }
        network.loop.advance(by: .milliseconds(900))
        #expect(work.withLock { $0.now } >= 256)
        network.loop.advance(by: .seconds(5))
        // One is in line for a worker when the others are counted.
        #expect(work.withLock { $0.done == 600 && $0.most <= 257 })
    }

    @Test func `a ping with a number of the session does not pass those that wait`() throws {
        var settings = LinkSettings()
        settings.limits.maximumRequestsInFlight = 4
        let network = SimulatedNetwork(settings: settings)
        let work = Lock(SlowDesk.Work())
        network.exports.add(DeskProxy(SlowDesk(network.loop, work)), named: nil)
        let end = try HandwrittenEnd(network)
        end.say(#"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":3}}"#)
        _ = end.take()
        for number in 1...12 {
            end.send(#"{"jsonrpc":"2.0","method":"Desk.work","params":[],"number":\#(number)}"#)
        }
        end.say(#"{"jsonrpc":"2.0","method":"rpc.ping","id":13}"#)
        network.loop.advance(by: .seconds(20))
        #expect(work.withLock { $0.done } == 12)
        #expect(end.take().contains { $0.contains(#""id":13,"result":null"#) })
    }

    @Test func `a request that has ended keeps nothing of the call that it was made in`() {
        var outer: ServedRequest? = ServedRequest(over: link, number: nil, inside: nil)
        weak let kept = outer
        var scope = CallScope()
        scope.served = outer
        let call = WaitingCall(requester: link.requester, number: 1, channel: 1, task: 0, scope: scope)
        let inner = ServedRequest(over: link, number: 1, inside: call)
        (scope.served, outer) = (nil, nil)
        #expect(inner.call == nil)
        inner.end()
        _ = consume call
        #expect(kept == nil && inner.waitingTasks == [])
    }
}
