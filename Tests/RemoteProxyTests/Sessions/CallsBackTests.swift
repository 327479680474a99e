// Calls of a listening end to a caller that has lost its connection, and what that end learns of the caller.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Calls back` {
    /// Learns its caller.
    private final class Hub: Probe {
        let caller = Lock<Caller?>(nil)

        func echo(_ number: Int) async throws -> Int {
            caller.withLock { $0 = Caller.current }
            return number
        }
        func fail(_ number: Int) async throws -> Int { number }
        func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
        func refuse(_ number: Int) async throws -> Int { number }
        func note(_ number: Int) {}
    }

    /// Calls another object, and passes its error on.
    private struct Relay: Probe {
        let next: any Probe
        let saysSo: Bool

        func echo(_ number: Int) async throws -> Int {
            do { return try await next.echo(number) } catch var error as RPCError
                where saysSo && error.outcome == .notExecuted
            {
                error.outcome = .notExecuted
                throw error
            }
        }
        func fail(_ number: Int) async throws -> Int { number }
        func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
        func refuse(_ number: Int) async throws -> Int { number }
        func note(_ number: Int) { next.note(number) }
    }

    private struct Passing<Service: Sendable>: WrappingSubject {
        let next: any Subject<Service>
    }

    private let network: SimulatedNetwork
    private let loop: ManualLoop
    private let hub = Hub()
    /// A client that is released closes.
    private let clients = Lock<[RPCClient]>([])

    init() {
        var settings = LinkSettings()
        settings.waitsForConnection = false
        network = SimulatedNetwork(settings: settings)
        loop = network.loop
        network.exports.add(ProbeProxy(hub), named: nil)
    }

    private func meet() throws -> (client: RPCClient, caller: Caller, far: RecordingProbe) {
        let client = network.client()
        clients.withLock { $0.append(client) }
        let far = RecordingProbe(loop)
        client.export(ProbeProxy(far))
        #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        return (client, try #require(hub.caller.withLock { $0 }), far)
    }

    private func lose() {
        network.isServing = false
        network.cut()
        loop.run()
    }

    private func comeBack() {
        network.isServing = true
        loop.advance(by: .seconds(5))
    }

    private func failure(_ proxy: ProbeProxy) -> RPCError? {
        let call = StartedCall(on: loop) { try await proxy.echo(7) }
        loop.run()
        return call.rpcError
    }

    /// Row C24 of "What became of my call".
    @Test func `to a caller without a connection fail at once if that is wanted, and posts wait`() throws {
        let (_, caller, far) = try meet()
        let device = ProbeProxy(caller)
        #expect(try loop.complete { try await device.echo(1) } == 1)
        lose()
        let error = failure(device)
        #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
        #expect(error?.message.contains("the call could not be sent") == true)
        loop.pretend { device.note(2) }
        comeBack()
        #expect(try loop.complete { try await device.echo(3) } == 3)
        #expect(far.executed == [1, 3] && far.noted == [2])
    }

    /// Row C24 of "What became of my call".
    @Test func `that were sent wait for their answer`() throws {
        let (_, caller, far) = try meet()
        let device = ProbeProxy(caller)
        let call = StartedCall(on: loop) { try await device.wait(4, milliseconds: 10) }
        loop.run()
        lose()
        #expect(!call.isOver && far.executed == [4])
        comeBack()
        #expect(call.value == 4)
    }

    /// Row C24 of "What became of my call".
    @Test func `wait by default`() throws {
        let network = SimulatedNetwork(loop: loop)
        network.exports.add(ProbeProxy(hub), named: nil)
        let client = network.client()
        client.export(ProbeProxy(RecordingProbe(loop)))
        #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        let device = ProbeProxy(try #require(hub.caller.withLock { $0 }))
        network.isServing = false
        network.cut()
        loop.run()
        let call = StartedCall(on: loop) { try await device.echo(5) }
        loop.run()
        #expect(!call.isOver)
        network.isServing = true
        loop.advance(by: .seconds(5))
        #expect(call.value == 5)
    }

    @Test func `that cannot be sent were not executed for the caller of a gateway either, whatever layers it has`()
        throws
    {
        let (_, caller, far) = try meet()
        let front = SimulatedNetwork(loop: loop)
        let device = ProbeProxy(caller)
        let gateways = [
            device, device.observed { _ in }, device.locked(clock: loop),
            device.with(timeout: .seconds(1), clock: loop), ProbeProxy(subject: Passing(next: device.proxySubject)),
        ]
        for (index, gateway) in gateways.enumerated() { front.exports.add(gateway, named: "\(index)") }
        let client = front.client()
        for index in gateways.indices {
            #expect(try loop.complete { try await ProbeProxy(client, named: "\(index)").echo(1) } == 1)
        }
        lose()
        for index in gateways.indices {
            let error = failure(ProbeProxy(client, named: "\(index)"))
            #expect(error?.code == .unavailable && error?.outcome == .notExecuted, "\(index)")
        }
        #expect(far.executed.count == gateways.count)
    }

    /// Row C23 of "What became of my call".
    @Test func `that cannot be sent count as executed for the caller of an object that made them, unless it says more`()
        throws
    {
        let (_, caller, _) = try meet()
        let front = SimulatedNetwork(loop: loop)
        for saysSo in [false, true] {
            front.exports.add(ProbeProxy(Relay(next: ProbeProxy(caller), saysSo: saysSo)), named: "\(saysSo)")
        }
        let client = front.client()
        lose()
        for saysSo in [false, true] {
            let error = failure(ProbeProxy(client, named: "\(saysSo)"))
            #expect(error?.code == .unavailable && error?.outcome == (saysSo ? .notExecuted : .executed))
        }
    }

    // MARK: states

    /// Listens until the caller is gone.
    private func listen(to caller: Caller) -> Lock<[String]> {
        let heard = Lock<[String]>([])
        _ = Task(executorPreference: loop) {
            for await state in caller.states {
                let word =
                    switch state {
                    case .connected(let resumed): resumed ? "resumed" : "connected"
                    case .lost(let since): since <= .now ? "lost" : "lost later"
                    case .gone: "gone"
                    }
                heard.withLock { $0.append(word) }
            }
            heard.withLock { $0.append("end") }
        }
        loop.run()
        return heard
    }

    @Test func `are preceded by the states of their caller, each told once to each listener`() throws {
        let (_, caller, _) = try meet()
        let first = listen(to: caller)
        #expect(first.withLock { $0 } == ["connected"])
        lose()
        let second = listen(to: caller)
        #expect(first.withLock { $0 } == ["connected", "lost"] && second.withLock { $0 } == ["lost"])
        comeBack()
        let third = listen(to: caller)
        #expect(first.withLock { $0 } == ["connected", "lost", "resumed"])
        #expect(second.withLock { $0 } == ["lost", "resumed"] && third.withLock { $0 } == ["resumed"])
        lose()
        loop.advance(by: .seconds(61))
        #expect(first.withLock { $0 } == ["connected", "lost", "resumed", "lost", "gone", "end"])
        #expect(third.withLock { $0 } == ["resumed", "lost", "gone", "end"])
        #expect(listen(to: caller).withLock { $0 } == ["gone", "end"])
    }

    @Test func `of a caller that leaves in good order end at once`() throws {
        let (client, caller, _) = try meet()
        let heard = listen(to: caller)
        client.close()
        loop.run()
        #expect(heard.withLock { $0 } == ["connected", "gone", "end"])
    }

    @Test func `say since when a caller is lost, also to one that asks late`() async throws {
        let (_, caller, _) = try meet()
        lose()
        loop.advance(by: .seconds(20))
        let listening = Task(executorPreference: loop) { await caller.states.first { _ in true } }
        loop.run()
        guard case .lost(let since) = await listening.value else { return #expect(Bool(false)) }
        #expect(since.duration(to: .now) >= .seconds(20))
    }

    @Test func `go to a caller that is the same key for all its calls, and shows nothing of its session`() throws {
        let (client, caller, _) = try meet()
        #expect(try loop.complete { try await ProbeProxy(client).echo(2) } == 2)
        let again = try #require(hub.caller.withLock { $0 })
        let (_, other, _) = try meet()
        #expect(Set([caller, again, other]).count == 2 && Set([caller.id, again.id, other.id]).count == 2)
        let key = try #require(client.requester.link?.id)
        var dumped = ""
        dump((caller.id, caller), to: &dumped)
        #expect(
            key.hasPrefix("\(caller.id)") && "\(caller.id)".count == 8 && !dumped.contains(key)
                && !"\(caller)".contains(key))
    }
}
