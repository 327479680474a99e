// Receivers at the other end of sessions that end: what a multicast proxy and a proxy for one caller keep of them.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Receivers that are gone` {
    private let network = SimulatedNetwork()
    private let log = Lock<[String]>([])

    private var lines: [String] { log.withLock { $0 } }

    /// A link of a listening end that no channel serves.
    private func session(_ runner: RequestRunner) -> Link {
        Link(
            LinkContext(runner: runner, exports: network.exports, sessions: SessionTable()) { [log] line in
                log.withLock { $0.append(line.message) }
            })
    }

    private func watches(_ session: Link) -> Int { session.requester.state.withLock { $0.onClosed.count } }

    @Test func `of thirty thousand callers that are gone nothing stays, and what is posted goes to the others alone`() {
        let runner = RequestRunner(loop: network.loop)
        let near = RecordingProbe(network.loop)
        let all = Multicast<ProbeProxy>([near])
        let proxy = all.proxy
        weak var first: Requester?
        let stays = session(runner)
        do {
            let sessions = (0..<30_000).map { _ in session(runner) }
            first = sessions[0].requester
            for session in sessions { all.add(ProbeProxy(Caller(session))) }
            all.add(ProbeProxy(Caller(stays)))
            #expect(all.count == 30_002)
            network.loop.pretend { for session in sessions { session.end("gone") } }
        }
        #expect(all.count == 2 && first == nil)
        for number in 0..<100 { proxy.note(number) }
        #expect(near.noted == Array(0..<100))
        #expect(stays.requester.pendingPosts == 100)
        #expect(lines.isEmpty)
    }

    @Test func `a client that subscribes and closes leaves, whatever layers are around its proxy`() throws {
        let all = Multicast<ProbeProxy>()
        let proxy = all.proxy
        network.exports.add(ProbeProxy(Subscribing(all)), named: nil)
        let clients = [network.client(), network.client()]
        let heard = clients.map { _ in RecordingProbe(network.loop) }
        for (client, probe) in zip(clients, heard) {
            client.export(ProbeProxy(probe))
            #expect(try network.loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        }
        #expect(all.count == 4)
        network.loop.pretend { proxy.note(1) }
        network.loop.run()
        #expect(heard.map(\.noted) == [[1, 1], [1, 1]])
        clients[0].close()
        network.loop.run()
        #expect(all.count == 2)
        network.loop.pretend { proxy.note(2) }
        network.loop.run()
        #expect(heard.map(\.noted) == [[1, 1], [1, 1, 2, 2]])
        clients[1].close()
        network.loop.run()
        #expect(all.count == 0)
    }

    @Test func `a proxy for one caller is one receiver, however often it is added, and a layer makes it another`()
        throws
    {
        let runner = RequestRunner(loop: network.loop)
        let (one, other) = (session(runner), session(runner))
        let all = Multicast<ProbeProxy>([ProbeProxy(Caller(one))])
        let again = all.add(ProbeProxy(Caller(one)))
        #expect(all.count == 1 && watches(one) == 1)
        let left = all.add(ProbeProxy(Caller(one), named: "left"))
        all.add(ProbeProxy(Caller(one)).observed { _ in })
        all.add(ProbeProxy(Caller(other)))
        #expect(all.count == 4)
        again.cancel()
        #expect(all.count == 3)
        left.cancel()
        #expect(all.count == 2)
        let latest = all.add(ProbeProxy(Caller(one)))
        again.cancel()
        #expect(all.count == 3)
        latest.cancel()
        #expect(all.count == 2)
    }

    @Test func `one that is gone before it is added is no receiver`() throws {
        let gone = session(RequestRunner(loop: network.loop))
        network.loop.pretend { gone.end("gone") }
        let client = network.client()
        client.close()
        let all = Multicast<ProbeProxy>([ProbeProxy(Caller(gone))])
        all.add(ProbeProxy(client))
        #expect(all.count == 0)
    }

    @Test func `a receiver that comes and goes many times leaves nothing at its session`() throws {
        let session = session(RequestRunner(loop: network.loop))
        let all = Multicast<ProbeProxy>()
        for _ in 0..<1_000 {
            let registration = all.add(ProbeProxy(Caller(session)))
            #expect(watches(session) == 1)
            registration.cancel()
        }
        #expect(watches(session) == 0)
        for _ in 0..<1_000 { _ = ProbeProxy.multicast([ProbeProxy(Caller(session))]) }
        #expect(watches(session) == 0)
    }

    @Test func `receivers that leave by themselves are found among others, in any order`() throws {
        let runner = RequestRunner(loop: network.loop)
        var random = SeededGenerator(seed: 7)
        let sessions = (0..<200).map { _ in session(runner) }
        let all = Multicast<ProbeProxy>(sessions.map { ProbeProxy(Caller($0)) })
        for (index, session) in sessions.shuffled(using: &random).enumerated() {
            network.loop.pretend { session.end("gone") }
            #expect(all.count == 199 - index)
        }
    }

    @Test func `posts to one that is gone leave a line for the first and one for the others`() {
        do {
            let gone = session(RequestRunner(loop: network.loop))
            network.loop.pretend { gone.end("as asked") }
            let proxy = ProbeProxy(Caller(gone))
            for number in 0..<1_000 { proxy.note(number) }
            #expect(lines == ["the post Probe.note was not sent: the peer is gone: as asked (-32051, notExecuted)"])
        }
        #expect(lines.dropFirst() == ["999 posts were not sent either, for the reason that was logged with the first"])
    }

    @Test
    func `posts that wait for one that does not come back are told of in one line, and of one that has left in none`() {
        let lost = session(RequestRunner(loop: network.loop))
        for number in 0..<10 { ProbeProxy(Caller(lost)).note(number) }
        network.loop.pretend { lost.end("as asked") }
        #expect(lines.count == 1 && lines[0].hasPrefix("10 posts were not delivered: the peer is gone: as asked"))
        let left = session(RequestRunner(loop: network.loop))
        for number in 0..<10 { ProbeProxy(Caller(left)).note(number) }
        network.loop.pretend { left.saidGoodbye() }
        #expect(lines.count == 1)
    }
}

/// Adds whoever calls to a multicast proxy: as it is, and inside two layers.
private struct Subscribing: Probe {
    let all: Multicast<ProbeProxy>

    init(_ all: Multicast<ProbeProxy>) { self.all = all }

    func echo(_ number: Int) async throws -> Int {
        guard let caller = Caller.current else { return 0 }
        all.add(ProbeProxy(caller))
        all.add(ProbeProxy(caller).with(timeout: .seconds(1)).observed { _ in })
        return number
    }
    func fail(_ number: Int) async throws -> Int { number }
    func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
    func refuse(_ number: Int) async throws -> Int { number }
    func note(_ number: Int) {}
}
