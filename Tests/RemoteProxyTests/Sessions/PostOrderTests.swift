// Posts of one session run one after the other, and what becomes of one is not to befall those that come after it.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Posts behind one another` {
    private let loop = ManualLoop()
    private let channel: MessageChannel
    private var link: Link { channel.link }
    private let log = Lock<[String]>([])

    init() {
        let context = LinkContext(runner: RequestRunner(loop: loop), exports: Exports(), sessions: SessionTable())
        channel = MessageChannel(
            MemoryChannel.pair(on: loop).0, number: 1, link: Link(context), framing: nil)
        loop.submit { [channel] in channel.open() }
        loop.run()
    }

    /// Asks for a post that takes so long and then says who it is and whether its task has been cancelled.
    private func post(_ name: String, id: RPCIdentifier? = nil, milliseconds: Int = 0) {
        let probe = RecordingProbe(loop)
        let post = Post<any Probe, Void>(name, of: _ServiceDescription("Notes"), proxy: { _ in probe }, coding: .none) {
            [loop, log] _, _ in
            if milliseconds > 0 { try? await loop.sleep(for: .milliseconds(milliseconds)) }
            log.withLock { $0.append(Task.isCancelled ? "\(name) cancelled" : name) }
        }
        guard let method = post.exported() else { return }
        let object = Exported(ProbeProxy(probe), named: nil, number: 1)
        let request = Request(id: id, method: Bytes("Notes.\(name)"), params: nil, timeout: nil)
        loop.pretend { link.start(method, of: object, for: request, from: channel, in: nil) }
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
        #expect(link.half.calls.count == 0)
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
        #expect(link.half.calls.count == 0)
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
        #expect(link.half.calls.count == 0)
    }
}
