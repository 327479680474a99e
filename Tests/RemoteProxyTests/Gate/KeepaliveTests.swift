// A peer that falls silent is found by whichever end listens, over a simulated network on a manual clock.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Peers that fall silent` {
    private let network: SimulatedNetwork
    private let traffic = Traffic(loops: 1, maximumRequests: 100)

    init() {
        var settings = LinkSettings()
        settings.traffic = traffic
        network = SimulatedNetwork(settings: settings)
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
    }

    private func client(_ interval: Duration) throws -> RPCClient {
        var configuration = RPCClient.Configuration()
        configuration.keepalive.interval = interval
        let client = network.client(configuration)
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        return client
    }

    /// Row C18 of "What became of my call".
    @Test func `a client finds it in twenty seconds and dials again`() throws {
        let client = try client(.seconds(15))
        network.cut(.silence)
        network.loop.advance(by: .milliseconds(19_900))
        #expect(network.dials == 1)
        network.loop.advance(by: .milliseconds(900))
        #expect(network.dials == 2)
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(2) } == 2)
        client.close()
        network.shutDown()
    }

    @Test func `a server finds it as soon, when the client asks seldom and has not said so`() throws {
        let stream = try network.rawStream()
        stream.open(LineReceiver())
        let hello = #"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":4}}"#
        Bytes(hello).withUnsafeBytes { _ = stream.append($0, framing: .lines) }
        stream.flush()
        network.loop.run()
        network.cut(.silence)
        network.loop.advance(by: .milliseconds(19_900))
        #expect(traffic.rareEvents.overruns == [:])
        network.loop.advance(by: .milliseconds(800))
        #expect(traffic.rareEvents.overruns == [.keepaliveTimeout: 1])
        network.shutDown()
    }

    @Test(arguments: [Duration.seconds(15), .zero, .seconds(4)])
    func `who is only idle stays for ever, whoever asks`(interval: Duration) throws {
        let client = try client(interval)
        network.loop.advance(by: .seconds(3_600))
        #expect(network.dials == 1 && traffic.rareEvents.overruns == [:])
        client.close()
        network.shutDown()
    }
}

@Suite struct `Peers that ask nothing` {
    private let network: SimulatedNetwork
    private let traffic = Traffic(loops: 1, maximumRequests: 100)
    private var loop: ManualLoop { network.loop }

    init() {
        var settings = LinkSettings()
        settings.traffic = traffic
        settings.limits.idleTime = .seconds(10)
        network = SimulatedNetwork(settings: settings)
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
    }

    private var told: Int { traffic.rareEvents.overruns[.idleTime] ?? 0 }

    @Test func `are told to go, counted from their last request`() throws {
        let client = network.client()
        for _ in 0..<4 {
            #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1)
            loop.advance(by: .seconds(8))
        }
        #expect(told == 0 && network.dials == 1)
        loop.advance(by: .seconds(3))
        #expect(told == 1)
        client.close()
        network.shutDown()
    }

    @Test func `may stay while a request runs`() throws {
        let client = network.client()
        let call = StartedCall(on: loop) { try await ProbeProxy(client).wait(1, milliseconds: 25_000) }
        loop.advance(by: .seconds(24))
        #expect(told == 0)
        loop.advance(by: .seconds(2))
        #expect(call.value == 1 && told == 0)
        loop.advance(by: .seconds(9))
        #expect(told == 1)
        client.close()
        network.shutDown()
    }
}
