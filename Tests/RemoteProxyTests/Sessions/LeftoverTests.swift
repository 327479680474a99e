// When a client and a server are done with each other nothing stays, no timer, no session and no object.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Of a conversation nothing is left` {
    private let network: SimulatedNetwork
    private let probe: RecordingProbe
    private var loop: ManualLoop { network.loop }

    init() {
        network = SimulatedNetwork()
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    private func wait(_ client: RPCClient, within limit: Duration? = nil) -> StartedCall {
        let proxy = ProbeProxy(client)
        let call = StartedCall(on: loop, within: limit) { try await proxy.wait(1, milliseconds: 100_000) }
        loop.run()
        return call
    }

    private func connected(_ change: (inout RPCClient.Configuration) -> Void = { _ in }) throws -> RPCClient {
        var configuration = RPCClient.Configuration()
        configuration.log = { _ in }
        change(&configuration)
        let client = network.client(configuration)
        #expect(try loop.complete { try await ProbeProxy(client).echo(0) } == 0)
        return client
    }

    @Test(arguments: [true, false]) func `when the client is closed or let go`(isClosed: Bool) throws {
        do {
            let client = try connected()
            loop.pretend { ProbeProxy(client).note(1) }
            if isClosed { client.close() }
        }
        loop.run()
        #expect(probe.noted == [1])
        network.expectNothingLeft()
    }

    @Test func `when calls are over, were cancelled or have expired`() throws {
        do {
            let client = try connected()
            let cancelled = wait(client)
            cancelled.cancel()
            let expired = wait(client, within: .seconds(5))
            loop.advance(by: .seconds(5))
            #expect(cancelled.isOver && expired.isOver)
            client.close()
        }
        network.expectNothingLeft()
    }

    @Test func `when calls still run`() throws {
        do {
            let client = try connected()
            let calls = [wait(client), wait(client, within: .seconds(20))]
            client.close()
            loop.run()
            #expect(calls.allSatisfy(\.isOver) && probe.cancelled.count == 2)
        }
        network.expectNothingLeft()
    }

    /// It has not said that it runs this library, so there is no session that could go on.
    @Test func `when a foreign client is cut off while its calls run`() throws {
        do {
            let end = try HandwrittenEnd(network)
            end.say(#"{"jsonrpc":"2.0","method":"Probe.wait","params":[1,100000],"timeout":50000,"id":1}"#)
            end.cut()
            #expect(probe.cancelled == [1])
        }
        network.expectNothingLeft()
    }

    @Test func `when the client goes on over other connections`() throws {
        do {
            let client = try connected()
            let call = wait(client)
            for how in [WireFaults.Breakage.reset, .close] {
                network.cut(how)
                #expect(try loop.complete { try await ProbeProxy(client).echo(2) } == 2)
            }
            call.cancel()
            client.close()
        }
        network.expectNothingLeft()
    }

    @Test func `when the client does not come back`() throws {
        do {
            let client = try connected { $0.postGrace = .seconds(3) }
            let call = wait(client)
            network.isServing = false
            network.cut()
            loop.pretend { ProbeProxy(client).note(1) }
            client.close()
            loop.advance(by: .seconds(3))
            #expect(call.isOver && probe.cancelled == [] && network.sessions.count == 1)
        }
        loop.advance(by: network.sessions.grace)
        #expect(probe.cancelled == [1])
        network.expectNothingLeft()
    }

    @Test func `when the server stops, and the client goes to the next`() throws {
        do {
            let client = try connected()
            let calls = [wait(client, within: .seconds(5)), wait(client)]
            network.drain()
            loop.run()
            network.isServing = true
            #expect(try loop.complete { try await ProbeProxy(client).echo(2) } == 2)
            loop.advance(by: .seconds(5))
            #expect(calls.map(\.isOver) == [true, false])
            client.close()
        }
        network.expectNothingLeft()
    }

    @Test func `when the server stops, and the client is away`() throws {
        do {
            let client = try connected()
            let call = wait(client)
            network.isServing = false
            network.cut()
            loop.run()
            network.drain()
            loop.run()
            #expect(probe.cancelled == [1])
            client.close()
            loop.run()
            #expect(call.isOver)
        }
        network.expectNothingLeft()
    }

    @Test(arguments: [true, false]) func `when there never was a connection`(isSilent: Bool) {
        do {
            var faults = WireFaults()
            faults.isHeld = true
            if isSilent { network.inject(faults) } else { network.isServing = false }
            let client = network.client()
            let call = wait(client)
            loop.pretend { ProbeProxy(client).note(1) }
            loop.advance(by: .seconds(1))
            client.close()
            loop.advance(by: .seconds(2))
            #expect(call.isOver)
            network.cut()
        }
        network.expectNothingLeft()
    }

    @Test(arguments: [true, false]) func `when an object was held`(isReleased: Bool) throws {
        let workshop = BusyWorkshop(loop)
        network.exports.add(WorkshopProxy(workshop).locked(clock: loop), named: nil)
        do {
            let client = try connected()
            let proxy = WorkshopProxy(client)
            try loop.complete { [loop] in
                try await proxy.exclusively(lease: .seconds(600)) {
                    _ = try await proxy.work("one", milliseconds: 1)
                    if !isReleased { client.close() }
                    try? await loop.sleep(for: .milliseconds(1))
                }
            }
            client.close()
        }
        network.expectNothingLeft()
    }

    /// Nothing else is set on this loop.
    @Test func `when calls and holds took turns with an object, or waited for one`() throws {
        let workshop = BusyWorkshop(loop)
        let locked = WorkshopProxy(workshop).locked(clock: loop)
        let (late, binding) = WorkshopProxy.unbound(on: loop, executor: loop)
        try loop.complete { [loop] in
            let calls = (0..<4).map { number in
                Task(executorPreference: loop) { try await locked.work("\(number)", milliseconds: 5) }
            }
            let waiting = Task(executorPreference: loop) { try await late.work("late", milliseconds: 1) }
            try await loop.sleep(for: .milliseconds(1))
            calls[1].cancel()
            try await locked.exclusively { _ = try await locked.work("held", milliseconds: 1) }
            for call in calls { _ = try? await call.value }
            try binding.bind(to: locked)
            _ = try await waiting.value
        }
        #expect(loop.timersLeft == 0)
    }
}
