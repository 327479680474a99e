// How much is kept for an end that may come back, and what becomes of what is more, on a clock that is moved by hand.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `What is kept for resumption` {
    private let network: SimulatedNetwork
    private let probe: RecordingProbe

    init() {
        network = SimulatedNetwork()
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    @Test func `what is kept stays small, of answers and of posts`() throws {
        let client = network.client()
        let proxy = ProbeProxy(client)
        for number in 0..<1_000 {
            #expect(try network.loop.complete { try await proxy.echo(number) } == number)
            #expect(network.keptReplies <= Receipts.interval)
        }
        for number in 0..<1_000 {
            // On the loop, so that nobody else flushes.
            try network.loop.complete { proxy.note(number) }
            network.loop.run()
            #expect(client.requester.pendingPosts <= Receipts.interval)
        }
        #expect(probe.noted == Array(0..<1_000))
    }

    @Test func `with too many answers kept the calls wait, and all are answered`() throws {
        var settings = LinkSettings()
        settings.limits.maximumKeptReplies = 3
        let network = SimulatedNetwork(settings: settings)
        network.exports.add(ProbeProxy(probe), named: nil)
        let proxy = ProbeProxy(network.client())
        let calls = (0..<200).map { number in
            Task(executorPreference: network.loop) { try await proxy.echo(number) }
        }
        for (number, call) in calls.enumerated() {
            #expect(try network.loop.complete { try await call.value } == number)
        }
        #expect(network.loop.now == Instant(nanoseconds: 0))
    }

    /// So many calls that all end while their client has no connection; now it can have one again.
    private func answeredWhileAway(
        _ count: Int, _ network: SimulatedNetwork
    ) -> (proxy: ProbeProxy, calls: [Task<Int, any Error>]) {
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
        let proxy = ProbeProxy(network.client())
        let calls = (1...count).map { number in
            // A hundred at a time, so that none waits with its connection.
            if number.isMultiple(of: 100) { network.loop.run() }
            return Task(executorPreference: network.loop) { try await proxy.wait(number, milliseconds: 10) }
        }
        network.loop.run()
        network.cut()
        network.isServing = false
        network.loop.advance(by: .milliseconds(20))
        network.isServing = true
        return (proxy, calls)
    }

    @Test func `what all sessions keep has a limit of its own, and one that keeps nothing may still begin`() throws {
        var settings = LinkSettings()
        settings.traffic = Traffic(loops: 1, maximumRequests: 1_000, maximumBytes: 8_192)
        settings.limits.maximumBytesInAll = 8_192
        let network = SimulatedNetwork(settings: settings)
        let (proxy, calls) = answeredWhileAway(500, network)
        var lost = 0
        for (number, call) in zip(1..., calls) {
            do {
                #expect(try network.loop.complete { try await call.value } == number)
            } catch let error as RPCError {
                #expect(error.code == .responseTooLarge && error.outcome == .executed)
                #expect(error.message.contains("8192") && error.message.contains("(maximumBytesInAll)"))
                lost += 1
            }
        }
        #expect(lost > 100 && lost < 400)
        // All has been acknowledged or will be: whoever comes now is served.
        for number in 1...200 { #expect(try network.loop.complete { try await proxy.echo(number) } == number) }
        #expect(try network.loop.complete { try await ProbeProxy(network.client()).echo(1) } == 1)
    }

    @Test func `what is larger than the server takes is refused at the client, made before it was known or after`()
        throws
    {
        var settings = LinkSettings()
        settings.limits.maximumFrameSize = 250
        let network = SimulatedNetwork(settings: settings)
        network.exports.add(ProbeProxy(probe), named: nil)
        let client = network.client()
        let long = ProbeProxy(client, named: String(repeating: "long", count: 50))
        for _ in 0..<2 {
            let error = try #require(throws: RPCError.self) { try network.loop.complete { try await long.echo(1) } }
            #expect(error.code == .requestTooLarge)
            #expect(error.outcome == .notExecuted)
        }
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(2) } == 2)
        #expect(network.dials == 1)
    }

    @Test func `an answer too many to be kept is told to have been given`() throws {
        var settings = LinkSettings()
        settings.limits.maximumKeptReplyBytes = 1
        let network = SimulatedNetwork(settings: settings)
        let (_, calls) = answeredWhileAway(2, network)
        #expect(try network.loop.complete { try await calls[0].value } == 1)
        let error = try #require(throws: RPCError.self) {
            try network.loop.complete { try await calls[1].value }
        }
        #expect(error.code == .responseTooLarge)
        #expect(error.outcome == .executed)
        #expect(error.message.contains("maximumKeptReplyBytes"))
    }

    @Test func `what never began is told so, however much else is kept`() throws {
        var settings = LinkSettings()
        settings.limits.maximumKeptReplyBytes = 1
        let network = SimulatedNetwork(settings: settings)
        network.exports.add(ProbeProxy(probe), named: nil)
        let client = network.client()
        let (proxy, nobody) = (ProbeProxy(client), ProbeProxy(client, named: "nobody"))
        #expect(try network.loop.complete { try await proxy.echo(1) } == 1)
        // The server answers, and nothing of it arrives.
        var faults = WireFaults()
        faults.isHeld = true
        network.injectFromServer(faults)
        let calls = (0..<20).map { _ in Task(executorPreference: network.loop) { try await nobody.echo(1) } }
        network.loop.run()
        #expect(network.keptReplies >= calls.count)
        network.cut()
        for call in calls {
            let error = try #require(throws: RPCError.self) { try network.loop.complete { try await call.value } }
            #expect(error.outcome == .notExecuted)
        }
        #expect(try network.loop.complete { try await proxy.echo(2) } == 2)
    }
}
