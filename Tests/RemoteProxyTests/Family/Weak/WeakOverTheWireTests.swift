// Weak proxies exported: the server's object belongs to somebody else.

import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `Weak proxies over the wire` {
    @Test func `a caller is told that the object is gone, and nothing has run`() throws {
        let network = SimulatedNetwork()
        var probe: RecordingProbe? = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy.weak(try #require(probe)), named: nil)
        let client = network.client()
        let proxy = ProbeProxy(client)
        let first = try network.loop.complete {
            proxy.note(2)
            return try await proxy.echo(1)
        }
        #expect(first == 1)
        #expect(probe?.noted == [2])
        probe = nil
        let call = StartedCall(on: network.loop) {
            proxy.note(3)
            return try await proxy.echo(4)
        }
        network.loop.run()
        #expect(call.rpcError?.code == .noSuchObject)
        #expect(call.rpcError?.outcome == .notExecuted)
        client.close()
        network.shutDown()
    }

    @Test func `a call in the object keeps it until it has ended`() throws {
        let loop = ManualLoop()
        var probe: RecordingProbe? = RecordingProbe(loop)
        weak let reference = probe
        let proxy = ProbeProxy.weak(try #require(probe))
        let call = StartedCall(on: loop) { try await proxy.wait(1, milliseconds: 500) }
        loop.run()
        probe = nil
        #expect(reference != nil)
        loop.advance(by: .seconds(1))
        #expect(call.value == 1)
        #expect(reference == nil)
    }
}
