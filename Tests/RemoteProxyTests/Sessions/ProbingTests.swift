// `connect` on a connection that has been silent: the server is asked, and answers or counts as lost. On a clock that is moved by
// hand.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A connection that was silent` {
    private let network: SimulatedNetwork
    private var loop: ManualLoop { network.loop }

    init() {
        var settings = LinkSettings()
        // A second ping would end the connection.
        settings.limits.maximumPings = 1
        network = SimulatedNetwork(settings: settings)
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
    }

    /// A client that is connected and has just heard of its server.
    private func client(_ change: (inout RPCClient.Configuration) -> Void = { _ in }) throws -> RPCClient {
        var configuration = RPCClient.Configuration()
        configuration.log = { _ in }
        change(&configuration)
        let client = network.client(configuration)
        #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        return client
    }

    private func connecting(_ client: RPCClient, within limit: Duration? = nil) -> StartedCall {
        StartedCall(on: loop, within: limit) {
            try await client.connect()
            return 0
        }
    }

    /// How long `connect` takes.
    private func timeToConnect(_ client: RPCClient) throws -> Duration {
        let start = loop.now
        try loop.complete { try await client.connect() }
        return start.duration(to: loop.now)
    }

    private func lastState(of client: RPCClient) throws -> RPCClient.State? {
        try loop.complete {
            for await state in client.states { return state }
            return nil
        }
    }

    @Test func `is not asked while it is not silent for long`() throws {
        let client = try client()
        network.cut(.silence)
        loop.pass(.milliseconds(14_999))
        #expect(try timeToConnect(client) == .zero)
        #expect(network.dials == 1)
    }

    @Test(arguments: [Duration.seconds(15), .zero])
    func `is asked once for all callers, and stays if its server answers`(interval: Duration) throws {
        let client = try client { $0.keepalive.interval = interval }
        // As if the machine had been suspended.
        loop.pass(.seconds(600))
        let callers = (0..<100).map { _ in connecting(client) }
        loop.run()
        #expect(callers.allSatisfy { $0.value == 0 })
        #expect(network.dials == 1 && loop.now == Instant(nanoseconds: 600_000_000_000))
        #expect(try loop.complete { try await ProbeProxy(client).echo(2) } == 2)
        #expect(network.dials == 1)
        client.close()
        network.shutDown()
    }

    @Test(arguments: [(Duration.seconds(15), true), (.zero, true), (.zero, false)])
    func `is replaced within five seconds if nobody answers`(interval: Duration, isSuspended: Bool) throws {
        let client = try client {
            $0.keepalive.interval = interval
            $0.timeout = .seconds(3_600)
        }
        let call = StartedCall(on: loop) { try await ProbeProxy(client).wait(2, milliseconds: 30_000) }
        loop.run()
        network.cut(.silence)
        if isSuspended { loop.pass(.seconds(20)) } else { loop.advance(by: .seconds(15)) }
        let time = try timeToConnect(client)
        #expect(time > .seconds(2) && time <= .seconds(5))
        #expect(network.dials == 2)
        #expect(try lastState(of: client) == .connected(resumed: true))
        loop.advance(by: .seconds(30))
        #expect(call.value == 2)
        client.close()
        network.shutDown()
    }

    @Test func `is asked although another ping has no answer yet, and gets no more time than that`() throws {
        let client = try client()
        network.cut(.silence)
        // Asked after 15 s.
        loop.advance(by: .milliseconds(19_500))
        #expect(network.dials == 1)
        #expect(try timeToConnect(client) <= .seconds(1))
        #expect(network.dials == 2)
        client.close()
        network.shutDown()
    }

    @Test func `makes connect fail if its server is away`() throws {
        let client = try client()
        network.cut(.silence)
        network.isServing = false
        loop.pass(.seconds(600))
        let (left, cancelled, late) = (connecting(client), connecting(client), connecting(client, within: .seconds(1)))
        loop.run()
        cancelled.cancel()
        loop.advance(by: .seconds(1))
        #expect(cancelled.error is CancellationError && !left.isOver)
        #expect(late.rpcError?.code == .unavailable && late.rpcError?.outcome == .notExecuted)
        loop.advance(by: .seconds(4))
        #expect(left.rpcError?.code == .unavailable && left.rpcError?.outcome == .notExecuted)
        #expect(left.rpcError?.message == "there is no connection: the server is away")
        network.isServing = true
        loop.advance(by: .seconds(10))
        #expect(try lastState(of: client) == .connected(resumed: true))
        client.close()
        network.shutDown()
    }

    @Test func `is replaced at once if it breaks while it is asked`() throws {
        let client = try client()
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        network.injectFromServer(faults)
        loop.pass(.seconds(600))
        let connecting = connecting(client)
        loop.run()
        #expect(!connecting.isOver)
        network.inject(WireFaults())
        network.injectFromServer(WireFaults())
        network.cut()
        loop.run()
        #expect(connecting.value == 0 && network.dials == 2)
        client.close()
        network.shutDown()
    }

    @Test func `does not make callers wait who come while it closes`() throws {
        let client = try client()
        loop.pass(.seconds(600))
        let connecting = connecting(client)
        client.close()
        loop.run()
        #expect(connecting.rpcError?.code == .closed)
        network.shutDown()
    }

    @Test func `is not asked if the server may not know the question`() throws {
        let client = try client { $0.peer = .jsonRPC(.lines) }
        network.cut(.silence)
        loop.pass(.seconds(600))
        #expect(try timeToConnect(client) == .zero)
        #expect(network.dials == 1)
        client.close()
        network.shutDown()
    }
}
