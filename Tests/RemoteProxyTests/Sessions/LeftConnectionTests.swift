// A server that stops in an orderly way leaves calls behind that still run there. What becomes of them is no business of the
// next server's.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
private protocol Diary: Sendable {
    func write(_ number: Int) async
}

/// Takes ten seconds for each entry.
private final class SlowDiary: Diary {
    let entries = Lock<[Int]>([])
    private let loop: ManualLoop
    init(_ loop: ManualLoop) { self.loop = loop }

    func write(_ number: Int) async {
        guard (try? await loop.sleep(for: .seconds(10))) != nil else { return }
        entries.withLock { $0.append(number) }
    }
}

@Suite struct `A connection that was left` {
    private let log = Lock<[String]>([])
    private let network: SimulatedNetwork
    private let probe: RecordingProbe
    private var loop: ManualLoop { network.loop }

    init() {
        var settings = LinkSettings()
        settings.limits.maximumRequestsInFlight = 2_000
        network = SimulatedNetwork(settings: settings, log: { [log] line in log.withLock { $0.append(line) } })
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    /// Calls that wait at a server which stops, and the next server, to which the client is connected.
    private func callsLeftBehind(
        _ count: Int, by client: RPCClient, within limit: Duration? = nil
    ) throws -> [StartedCall] {
        let proxy = ProbeProxy(client)
        #expect(try loop.complete { try await proxy.echo(0) } == 0)
        let calls = (1...count).map { number in
            StartedCall(on: loop, within: limit) { try await proxy.wait(number, milliseconds: 3_600_000) }
        }
        loop.run()
        network.drain()
        loop.run()
        network.isServing = true
        #expect(try loop.complete { try await proxy.echo(-1) } == -1)
        return calls
    }

    private func expectService(of client: RPCClient) throws {
        let dials = network.dials
        network.cut()
        #expect(try loop.complete { try await ProbeProxy(client).echo(-2) } == -2)
        loop.advance(by: .seconds(1))
        #expect(network.dials == dials + 1)
        #expect(log.withLock { $0 } == [])
    }

    @Test func `calls that expire there together do not shut their client out of the next server`() throws {
        let client = network.client()
        let calls = try callsLeftBehind(1_100, by: client, within: .seconds(30))
        loop.advance(by: .seconds(30))
        #expect(calls.allSatisfy { $0.rpcError?.code == .deadlineExceeded })
        #expect(probe.cancelled.count == 1_100)
        try expectService(of: client)
    }

    /// Their cancellations are lost with the connection, and the session there has ended.
    @Test func `calls that are cancelled there one by one do not either`() throws {
        let client = network.client()
        let calls = try callsLeftBehind(1_100, by: client)
        for call in calls { call.cancel() }
        try expectService(of: client)
        #expect(calls.allSatisfy { $0.error is CancellationError })
        #expect(probe.cancelled.count == 1_100)
    }

    /// Announces each number to its caller before it answers.
    private struct Announcer: Probe {
        let loop: ManualLoop

        func echo(_ number: Int) async throws -> Int {
            if let caller = Caller.current { ProbeProxy(caller).note(number) }
            return number
        }
        func fail(_ number: Int) async throws -> Int { number }
        func wait(_ number: Int, milliseconds: Int) async throws -> Int {
            try await loop.sleep(for: .milliseconds(milliseconds))
            return number
        }
        func refuse(_ number: Int) async throws -> Int { number }
        func note(_ number: Int) {}
    }

    @Test func `posts to a client that has them are not told of as lost when the server stops`() throws {
        network.exports.add(ProbeProxy(Announcer(loop: loop)), named: "announcer")
        let client = network.client()
        client.export(ProbeProxy(probe))
        let proxy = ProbeProxy(client, named: "announcer")
        #expect(try loop.complete { try await proxy.echo(1) } == 1)
        loop.run()
        #expect(probe.noted == [1])
        let call = StartedCall(on: loop) { try await proxy.wait(2, milliseconds: 60_000) }
        loop.run()
        network.drain()
        loop.run()
        // Not all is answered, so the connection is still there, and is lost now.
        network.cut()
        loop.advance(by: .seconds(1))
        #expect(call.isOver)
        #expect(log.withLock { $0.filter { $0.contains("may or may not") } } == [])
    }

    @Test func `its end is a goodbye, so posts that the server has still to run are run`() throws {
        let diary = SlowDiary(loop)
        network.exports.add(DiaryProxy(diary), named: nil)
        let client = network.client()
        let proxy = DiaryProxy(client)
        try loop.complete { for number in 1...3 { await proxy.write(number) } }
        loop.advance(by: .seconds(1))
        network.drain()
        loop.advance(by: .seconds(60))
        #expect(diary.entries.withLock { $0 } == [1, 2, 3])
    }

    @Test func `a peer that has left inside a message is not waited for`() {
        let context = LinkContext(
            runner: RequestRunner(loop: loop), exports: network.exports, sessions: network.sessions)
        let link = Link(context)
        let channel = FramedChannel(MemoryChannel.pair(on: loop).0, for: link)
        let isKept = Lock(true)
        loop.pretend {
            link.open(channel, number: 1)
            channel.received(Bytes("\0\0\0\u{09}{"))
            isKept.withLock { $0 = channel.peerFinished() }
        }
        #expect(!isKept.withLock { $0 })
    }
}
