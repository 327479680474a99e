// Clients that pause: their connection ends, their session stays, and their calls wait. On a clock that is moved by hand.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A client that pauses` {
    private let network = SimulatedNetwork()
    private let probe: RecordingProbe
    private var loop: ManualLoop { network.loop }

    init() {
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    private func client(_ change: (inout RPCClient.Configuration) -> Void = { _ in }) -> RPCClient {
        var configuration = RPCClient.Configuration()
        configuration.log = { _ in }
        change(&configuration)
        return network.client(configuration)
    }

    /// A client that has called its server.
    private func used(_ change: (inout RPCClient.Configuration) -> Void = { _ in }) throws -> RPCClient {
        let client = client(change)
        #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        return client
    }

    private func connecting(_ client: RPCClient) -> StartedCall {
        StartedCall(on: loop) {
            try await client.connect()
            return 0
        }
    }

    private func state(of client: RPCClient) throws -> RPCClient.State? {
        try loop.complete {
            for await state in client.states { return state }
            return nil
        }
    }

    @Test func `tells its states, and goes on with its session`() throws {
        let client = try used()
        let states = Lock<[RPCClient.State]>([])
        let watching = Task(executorPreference: loop) {
            for await state in client.states { states.withLock { $0.append(state) } }
        }
        loop.run()
        client.pause()
        client.pause()
        loop.advance(by: .seconds(50))
        client.resume()
        loop.run()
        #expect(
            states.withLock { $0 } == [.connected(resumed: false), .paused, .connecting, .connected(resumed: true)])
        #expect("\(RPCClient.State.paused)" == "paused")
        watching.cancel()
        client.close()
        network.shutDown()
    }

    @Test func `makes no connection, whatever is called, and does nothing else`() throws {
        let client = try used { $0.timeout = .seconds(10_000) }
        client.pause()
        loop.advance(by: .seconds(1))
        let call = StartedCall(on: loop) { try await ProbeProxy(client).echo(2) }
        ProbeProxy(client).note(3)
        loop.run()
        // The session waits at both ends, and the call for its deadline.
        loop.advance(by: .seconds(60))
        let steps = loop.steps
        loop.advance(by: .seconds(3_600))
        #expect(loop.steps == steps && network.dials == 1)
        #expect(try state(of: client) == .paused && !call.isOver)
        client.resume()
        loop.run()
        #expect(call.value == 2 && probe.noted == [3] && network.dials == 2)
        client.close()
        network.shutDown()
    }

    @Test func `begins no attempt for a call that was made at the same moment`() throws {
        let client = client()
        let states = Lock<[RPCClient.State]>([])
        let watching = Task(executorPreference: loop) {
            for await state in client.states { states.withLock { $0.append(state) } }
        }
        loop.run()
        // The pause comes first on the loop, and the call asks for a connection before that.
        loop.submit {
            client.pause()
            ProbeProxy(client).note(1)
        }
        loop.run()
        #expect(states.withLock { $0 } == [.idle, .paused] && network.dials == 0)
        client.resume()
        loop.run()
        #expect(probe.noted == [1] && network.dials == 1)
        watching.cancel()
        client.close()
        network.shutDown()
    }

    @Test func `is closed when what was queued before the pause has left`() throws {
        let client = try used { $0.peer = .jsonRPC(.lines) }
        var faults = WireFaults()
        (faults.isHeld, faults.capacity) = (true, 1)
        network.inject(faults)
        loop.submit {
            ProbeProxy(client).note(2)
            client.pause()
        }
        let lost = StartedCall(on: loop) { await client.close(grace: .seconds(5)) }
        loop.run()
        #expect(!lost.isOver && probe.noted == [])
        network.inject(WireFaults())
        loop.run()
        #expect(lost.value == 0 && probe.noted == [2])
        network.shutDown()
    }

    /// Row C28 of "What became of my call".
    @Test func `gets the answers to its calls afterwards, and the server runs them once`() throws {
        let client = try used()
        let proxy = ProbeProxy(client)
        let call = StartedCall(on: loop) { try await proxy.wait(2, milliseconds: 5_000) }
        proxy.note(3)
        loop.run()
        client.pause()
        loop.run()
        proxy.note(4)
        loop.advance(by: .seconds(20))
        #expect(!call.isOver && probe.noted == [3])
        client.resume()
        loop.run()
        #expect(call.value == 2 && probe.executed == [1, 2] && probe.noted == [3, 4])
        client.close()
        network.shutDown()
    }

    @Test func `sends before it pauses what was queued`() throws {
        let client = try used()
        // The post is still on its way when the connection closes.
        var faults = WireFaults()
        (faults.pieceSize, faults.capacity) = (1, 1)
        network.inject(faults)
        loop.submit {
            ProbeProxy(client).note(2)
            client.pause()
        }
        loop.run()
        #expect(probe.noted == [2] && network.dials == 1)
        #expect(try state(of: client) == .paused)
        client.close()
        network.shutDown()
    }

    /// Row C28 of "What became of my call".
    @Test func `lets its calls wait until their deadlines`() throws {
        let client = try used()
        let sent = StartedCall(on: loop, within: .seconds(10)) {
            try await ProbeProxy(client).wait(2, milliseconds: 60_000)
        }
        loop.run()
        client.pause()
        loop.run()
        let unsent = StartedCall(on: loop, within: .seconds(10)) { try await ProbeProxy(client).echo(3) }
        loop.advance(by: .milliseconds(9_900))
        #expect(!sent.isOver && !unsent.isOver)
        loop.advance(by: .milliseconds(200))
        #expect(sent.rpcError?.code == .deadlineExceeded && sent.rpcError?.outcome == .unknown)
        #expect(sent.rpcError?.message.contains("the client is paused") == true)
        #expect(unsent.rpcError?.code == .unavailable && unsent.rpcError?.outcome == .notExecuted)
        #expect(unsent.rpcError?.message.contains("the client is paused") == true)
        client.close()
        network.shutDown()
    }

    /// Row C28 of "What became of my call".
    @Test func `ends calls at once that do not wait for a connection, until it resumes`() throws {
        let client = try used { $0.waitsForConnection = false }
        let sent = StartedCall(on: loop) { try await ProbeProxy(client).wait(2, milliseconds: 5_000) }
        loop.run()
        client.pause()
        loop.run()
        let unsent = StartedCall(on: loop) { try await ProbeProxy(client).echo(3) }
        loop.run()
        #expect(unsent.rpcError?.code == .unavailable && unsent.rpcError?.outcome == .notExecuted)
        #expect(unsent.rpcError?.message == "Probe.echo: the call could not be sent: the client is paused")
        loop.advance(by: .seconds(6))
        #expect(!sent.isOver)
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        client.resume()
        loop.run()
        let later = StartedCall(on: loop) { try await ProbeProxy(client).echo(4) }
        loop.run()
        #expect(!later.isOver)
        network.inject(WireFaults())
        loop.run()
        #expect(later.value == 4 && sent.value == 2)
        client.close()
        network.shutDown()
    }

    @Test func `connects for nobody`() throws {
        let client = try used()
        client.pause()
        let error = #expect(throws: RPCError.self) { try loop.complete { try await client.connect() } }
        #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
        #expect(error?.message == "there is no connection: the client is paused")
        #expect(network.dials == 1)
        client.resume()
        try loop.complete { try await client.connect() }
        #expect(network.dials == 2)
        client.close()
        network.shutDown()
    }

    @Test func `gives an attempt up that is being made`() throws {
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        let client = client()
        let connecting = connecting(client)
        loop.run()
        client.pause()
        loop.run()
        #expect(connecting.rpcError?.message == "there is no connection: the client is paused")
        network.inject(WireFaults())
        loop.advance(by: .seconds(60))
        #expect(network.dials == 1)
        #expect(try state(of: client) == .paused)
        client.resume()
        #expect(try loop.complete { try await ProbeProxy(client).echo(2) } == 2)
        client.close()
        network.shutDown()
    }

    @Test func `stops waiting for its next attempt, and makes it at once when it resumes`() throws {
        network.isServing = false
        let client = client { $0.reconnect = Backoff(initial: .seconds(10), maximum: .seconds(10)) }
        _ = connecting(client)
        loop.run()
        #expect(network.dials == 1)
        client.pause()
        loop.advance(by: .seconds(60))
        #expect(network.dials == 1)
        client.resume()
        loop.run()
        #expect(network.dials == 2)
        // Without a pause it cuts the wait short, too.
        client.resume()
        loop.run()
        #expect(network.dials == 3)
        client.close()
        network.shutDown()
    }

    @Test func `probes its connection when it resumes without a pause`() throws {
        let client = try used()
        network.cut(.silence)
        loop.pass(.seconds(30))
        client.resume()
        loop.advance(by: .seconds(5))
        #expect(network.dials == 2)
        #expect(try state(of: client) == .connected(resumed: true))
        client.close()
        network.shutDown()
    }

    @Test func `may resume at once, while its connection is still closing`() throws {
        let client = try used()
        let call = StartedCall(on: loop) { try await ProbeProxy(client).wait(2, milliseconds: 1_000) }
        loop.run()
        for _ in 0..<5 {
            client.pause()
            client.resume()
        }
        loop.run()
        #expect(try state(of: client) == .connected(resumed: true))
        loop.advance(by: .seconds(2))
        #expect(call.value == 2 && probe.executed == [1, 2])
        client.close()
        network.shutDown()
    }

    @Test func `leaves a server that has fallen silent within a second`() throws {
        let client = try used()
        network.cut(.silence)
        client.pause()
        let call = StartedCall(on: loop) { try await ProbeProxy(client).echo(2) }
        loop.advance(by: .seconds(2))
        client.resume()
        loop.run()
        #expect(call.value == 2 && network.dials == 2)
        client.close()
        network.shutDown()
    }

    @Test func `is passed over by failover`() throws {
        let second = SimulatedNetwork(loop: loop)
        let otherProbe = RecordingProbe(loop)
        second.exports.add(ProbeProxy(otherProbe), named: nil)
        let (first, other) = (try used(), second.client())
        let both = ProbeProxy.failover([ProbeProxy(first), ProbeProxy(other)])
        // A call that was sent may have run, so it is not made at the other one.
        let sent = StartedCall(on: loop) { try await both.wait(2, milliseconds: 5_000) }
        loop.run()
        #expect(probe.executed == [1, 2])
        first.pause()
        loop.run()
        #expect(sent.rpcError?.code == .connectionLost && sent.rpcError?.outcome == .unknown)
        #expect(try loop.complete { try await both.echo(3) } == 3)
        #expect(probe.executed == [1, 2] && otherProbe.executed == [3])
        for client in [first, other] { client.close() }
        network.shutDown()
        second.shutDown()
    }

    @Test func `ends calls at once although its connection takes a second to close`() throws {
        let client = try used { $0.waitsForConnection = false }
        network.cut(.silence)
        client.pause()
        loop.run()
        let call = StartedCall(on: loop) { try await ProbeProxy(client).echo(2) }
        loop.run()
        #expect(call.rpcError?.code == .unavailable && call.rpcError?.outcome == .notExecuted)
        client.close()
        network.shutDown()
    }

    @Test func `delivers its posts when it is closed`() throws {
        let client = try used()
        client.pause()
        loop.run()
        ProbeProxy(client).note(2)
        #expect(try loop.complete { await client.close(grace: .seconds(2)) } == 0)
        #expect(probe.noted == [2] && network.dials == 2)
        client.pause()
        client.resume()
        loop.run()
        #expect(network.dials == 2)
        network.shutDown()
    }

    @Test func `loses its session if it stays away for too long`() throws {
        let client = try used { $0.timeout = .seconds(600) }
        let call = StartedCall(on: loop) { try await ProbeProxy(client).wait(2, milliseconds: 500_000) }
        loop.run()
        client.pause()
        loop.advance(by: .seconds(70))
        #expect(call.rpcError?.code == .connectionLost && call.rpcError?.outcome == .unknown)
        client.resume()
        loop.run()
        #expect(try state(of: client) == .connected(resumed: false))
        client.close()
        network.shutDown()
    }

    @Test func `has no session to keep where the server knows none`() throws {
        let client = try used { $0.peer = .jsonRPC(.lines) }
        let sent = StartedCall(on: loop) { try await ProbeProxy(client).wait(2, milliseconds: 5_000) }
        loop.run()
        client.pause()
        let unsent = StartedCall(on: loop) { try await ProbeProxy(client).echo(3) }
        loop.advance(by: .seconds(2))
        #expect(sent.rpcError?.code == .connectionLost && sent.rpcError?.outcome == .unknown)
        #expect(!unsent.isOver && network.dials == 1)
        client.resume()
        loop.run()
        #expect(unsent.value == 3)
        client.close()
        network.shutDown()
    }

    @Test(arguments: ["paused", "resumed", "connecting", "silent"], [true, false])
    func `leaves nothing behind when it is closed or let go`(_ when: String, isClosed: Bool) throws {
        do {
            let client = when == "connecting" ? client() : try used()
            if when == "connecting" {
                var faults = WireFaults()
                faults.isHeld = true
                network.inject(faults)
                _ = connecting(client)
                loop.run()
            }
            if when == "silent" { network.cut(.silence) }
            client.pause()
            loop.run()
            network.inject(WireFaults())
            if when == "resumed" { client.resume() }
            loop.run()
            if isClosed { client.close() }
        }
        loop.advance(by: .seconds(90))
        network.expectNothingLeft()
    }

    /// In every order of events each call runs once and each post arrives once.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `loses nothing and runs nothing twice`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let client = client {
            $0.timeout = .seconds(3_600)
            $0.sessionGrace = .seconds(600)
            $0.reconnect = Backoff(initial: .milliseconds(10), maximum: .milliseconds(100))
        }
        let proxy = ProbeProxy(client)
        var (calls, posts): ([StartedCall], [Int]) = ([], [])
        for number in 0..<200 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0: client.pause()
            case 1, 2: client.resume()
            case 3: network.cut([.reset, .close, .silence].randomElement(using: &random) ?? .reset)
            case 4: loop.advance(by: .milliseconds(Int.random(in: 1...2_000, using: &random)))
            case 5: for _ in 0..<Int.random(in: 1...20, using: &random) { loop.step() }
            case 6:
                proxy.note(number)
                posts.append(number)
            default:
                let time = Int.random(in: 0...500, using: &random)
                calls.append(StartedCall(on: loop) { try await proxy.wait(number, milliseconds: time) })
            }
        }
        client.resume()
        loop.advance(by: .seconds(60))
        #expect(calls.allSatisfy { $0.value != nil })
        #expect(calls.compactMap(\.value).sorted() == probe.executed.sorted())
        #expect(probe.noted == posts && client.requester.pendingPosts == 0)
        client.close()
        network.shutDown()
    }
}
