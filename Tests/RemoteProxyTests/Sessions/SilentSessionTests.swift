// What a session gives back when it has been silent for so long that one end pings the other, on a clock that is moved by hand.

import RPCSockets
import TestSupport
import Testing

@testable import RPCWire
@testable import RemoteProxy

@Suite struct `A session that was busy` {
    private let network = SimulatedNetwork()
    private let probe: RecordingProbe
    private let client: RPCClient
    private var loop: ManualLoop { network.loop }

    init() {
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        client = network.client()
    }

    private func links() throws -> (near: Link, far: Link) {
        let near = try #require(client.requester.link)
        return (near, try #require(network.sessions.link(named: near.id)))
    }

    /// Calls and posts, all at a time.
    private func beBusy(_ numbers: Range<Int>) throws {
        let proxy = ProbeProxy(client)
        let calls = numbers.map { number in
            proxy.note(number)
            return Task(executorPreference: loop) { try await proxy.wait(number, milliseconds: 10) }
        }
        loop.run()
        loop.advance(by: .milliseconds(20))
        for (number, call) in zip(numbers, calls) {
            #expect(try loop.complete { try await call.value } == number)
        }
    }

    @Test func `gives its memory back when it has been silent, and goes on exactly`() throws {
        try beBusy(0..<100)
        let (near, far) = try links()
        #expect(far.half.replies.room.bytes > 128 && far.half.replies.room.count >= 64)
        #expect(near.requester.state.withLock { $0.half.calls.placeCount } > 100)
        loop.advance(by: .seconds(20))
        #expect(far.half.replies.room == (0, 0) && far.half.calls.placeCount == 0)
        #expect(near.requester.state.withLock { $0.half.calls.placeCount } == 0)
        #expect(near.requester.state.withLock { $0.half.posts.room } == (0, 0))
        try beBusy(100..<150)
        network.cut()
        try beBusy(150..<200)
        #expect(probe.noted == Array(0..<200))
        #expect(try links().far === far, "the session has gone on")
    }

    @Test func `keeps what is still needed`() throws {
        let proxy = ProbeProxy(client)
        let call = Task(executorPreference: loop) { try await proxy.wait(7, milliseconds: 25_000) }
        loop.run()
        let (near, far) = try links()
        loop.advance(by: .seconds(20))
        #expect(far.half.calls.count == 1 && near.requester.state.withLock { $0.half.calls.count } == 1)
        loop.advance(by: .seconds(6))
        #expect(try loop.complete { try await call.value } == 7)
    }
}
