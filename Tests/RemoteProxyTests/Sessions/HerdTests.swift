// Many clients that lose the same server at the same moment: they neither keep asking nor come back all at once.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A herd of clients` {
    @Test func `five hundred whose server is away for five seconds ask seldom, and come back spread out and soon`()
        throws
    {
        let count = 500
        let network = SimulatedNetwork()
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
        let loop = network.loop
        let random = Lock(SeededGenerator(seed: 7))
        let clients = (0..<count).map { _ in
            RPCClient(
                network.dialer, RPCClient.Configuration(),
                chance: { random.withLock { Double.random(in: 0..<1, using: &$0) } })
        }
        for client in clients { #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1) }
        #expect(network.dials == count)
        network.isServing = false
        network.cut()
        loop.advance(by: .seconds(5))
        let attempts = Double(network.dials - count) / Double(count)
        #expect(attempts <= 8, "\(attempts)")
        network.isServing = true
        // From now on whoever dials is back.
        let before = network.dials
        var (seen, most, slots) = (before, 0, 0)
        while seen < before + count, slots < 120 {
            loop.advance(by: .milliseconds(100))
            slots += 1
            most = max(most, network.dials - seen)
            seen = network.dials
        }
        #expect(seen == before + count)
        #expect(most <= count / 10, "\(most)")
        print(
            "\(count) clients: \(attempts) attempts each, at most \(most) back in a tenth of a second, all in \(slots)")
        for client in clients { client.close() }
        network.shutDown()
    }
}
