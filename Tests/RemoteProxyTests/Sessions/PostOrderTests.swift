// Posts of one session run one after the other, and what becomes of one is not to befall those that come after it.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Posts behind one another` {
    private let loop = ManualLoop()
    private let connection: Connection
    private let log = Lock<[String]>([])

    init() {
        let peer = Requester(runner: RequestRunner(loop: loop), exports: Exports())
        connection = Connection(
            MemoryChannel.pair(on: loop).0, number: 1, peer: peer, role: .accepted(SessionTable()),
            events: Connection.Events())
        loop.submit { [connection] in connection.open() }
        loop.run()
    }

    /// Asks for a post that takes so long and then says who it is and whether its task has been cancelled.
    private func post(_ name: String, id: RPCIdentifier? = nil, milliseconds: Int = 0) {
        let probe = RecordingProbe(loop)
        let post = Post<any Probe, NoArguments>(name, of: ServiceDescription("Notes"), proxy: { _ in probe }) {
            [loop, log] _, _ in
            if milliseconds > 0 { try? await loop.sleep(for: .milliseconds(milliseconds)) }
            log.withLock { $0.append(Task.isCancelled ? "\(name) cancelled" : name) }
        }
        let method = post._export(ProbeProxy(probe))
        let request = Request(id: id, method: Bytes("Notes.\(name)"), params: nil, timeout: nil)
        loop.pretend { connection.session.start(method, for: request, from: connection, in: nil) }
    }

    /// A post can be cancelled by a peer that has called it with an id, while it is on its way to an actor, say.
    @Test func `those behind one that was cancelled run all the same, in order, in a task that was not`() {
        post("slow", id: .integer(1), milliseconds: 1_000)
        for name in ["first", "second", "third"] { post(name) }
        loop.advance(by: .milliseconds(300))
        #expect(log.withLock { $0.isEmpty } && connection.session.waitingRequests == 3)
        loop.pretend { connection.session.cancelRequest(.integer(1)) }
        loop.run()
        post("fourth")
        loop.run()
        #expect(log.withLock { $0 } == ["slow cancelled", "first", "second", "third", "fourth"])
        #expect(connection.session.waitingRequests == 0 && connection.session.peer.runner.waitingSessions == 0)
        #expect(connection.session.calls.count == 0)
    }

    @Test func `those of an end that has left in good order still run when its session is over`() {
        post("slow", milliseconds: 1_000)
        for name in ["first", "second"] { post(name) }
        loop.advance(by: .milliseconds(300))
        #expect(log.withLock { $0.isEmpty })
        loop.pretend {
            connection.session.saidGoodbye()
            connection.session.end("gone")
        }
        loop.advance(by: .seconds(2))
        #expect(log.withLock { $0 } == ["slow", "first", "second"])
        #expect(connection.session.calls.count == 0)
    }

    @Test func `two that are cancelled one after the other keep nobody back`() {
        post("slow", id: .integer(1), milliseconds: 1_000)
        post("between")
        post("slower", id: .integer(2), milliseconds: 2_000)
        post("last")
        for id in [2, 1] as [Int64] {
            loop.advance(by: .milliseconds(100))
            loop.pretend { connection.session.cancelRequest(.integer(id)) }
        }
        loop.run()
        // The second had not begun: it never does.
        #expect(log.withLock { $0 } == ["slow cancelled", "between", "last"])
        #expect(connection.session.calls.count == 0)
    }
}
