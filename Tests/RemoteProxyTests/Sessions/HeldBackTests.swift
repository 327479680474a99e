// Calls that wait because their client has not acknowledged the answers before them.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `Calls held back` {
    @Test func `begin though the acknowledgement that was asked for left before the last answer came`() throws {
        var settings = LinkSettings()
        settings.limits.maximumKeptReplies = 1
        let network = SimulatedNetwork(settings: settings)
        let probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        let (loop, proxy) = (network.loop, ProbeProxy(network.client()))
        let calls = [10, 20].map { time in
            Task(executorPreference: loop) { try await proxy.wait(time, milliseconds: time) }
        }
        loop.advance(by: .milliseconds(10))
        // The question and the second answer arrive together, the question first.
        var faults = WireFaults()
        faults.isHeld = true
        network.injectFromServer(faults)
        let late = Task(executorPreference: loop) { try await proxy.echo(3) }
        loop.advance(by: .milliseconds(10))
        #expect(probe.executed == [10, 20])
        network.injectFromServer(WireFaults())
        #expect(try loop.complete { try await late.value } == 3)
        for (call, time) in zip(calls, [10, 20]) { #expect(try loop.complete { try await call.value } == time) }
        #expect(loop.now < Instant(nanoseconds: 1_000_000_000))
        network.shutDown()
    }

    @Test func `are counted off when their session ends before they could begin`() throws {
        var settings = LinkSettings()
        settings.limits.maximumKeptReplies = 1
        let traffic = Traffic(loops: 1, maximumRequests: 1_000)
        settings.traffic = traffic
        let network = SimulatedNetwork(settings: settings)
        let probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        let (loop, proxy) = (network.loop, ProbeProxy(network.client()))
        #expect(try loop.complete { try await proxy.echo(0) } == 0)
        var faults = WireFaults()
        faults.isHeld = true
        network.injectFromServer(faults)
        let calls = (1...3).map { number in Task(executorPreference: loop) { try await proxy.echo(number) } }
        loop.advance(by: .milliseconds(10))
        #expect(traffic.calls == 4 && traffic.running == 0 && probe.executed == [0])
        network.isServing = false
        network.cut()
        for call in calls { #expect(throws: RPCError.self) { try loop.complete { try await call.value } } }
        loop.advance(by: .seconds(90))
        #expect(traffic.running == 0 && probe.executed == [0])
        network.shutDown()
    }

    @Test func `keep no post out, however many they are`() throws {
        var settings = LinkSettings()
        (settings.limits.maximumKeptReplies, settings.limits.maximumRequestsInFlight) = (1, 2)
        let network = SimulatedNetwork(settings: settings)
        let probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
        let (loop, proxy) = (network.loop, ProbeProxy(network.client()))
        #expect(try loop.complete { try await proxy.echo(0) } == 0)
        // The client hears nothing and so acknowledges nothing: its calls wait, and have all the places.
        var faults = WireFaults()
        faults.isHeld = true
        network.injectFromServer(faults)
        let calls = (1...2).map { number in Task(executorPreference: loop) { try await proxy.echo(number) } }
        loop.advance(by: .milliseconds(10))
        try loop.complete { for number in 1...3 { proxy.note(number) } }
        loop.advance(by: .milliseconds(10))
        #expect(probe.noted == [1, 2, 3])
        #expect(probe.executed == [0])
        network.injectFromServer(WireFaults())
        for (call, number) in zip(calls, 1...2) { #expect(try loop.complete { try await call.value } == number) }
        network.shutDown()
    }
}
