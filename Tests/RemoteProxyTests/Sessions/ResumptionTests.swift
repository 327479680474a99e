// What a session does for its two ends when a connection is lost: each promise by itself, on a clock that is moved by
// hand.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `Resumption` {
    private let network: SimulatedNetwork
    private let probe: RecordingProbe

    init() {
        network = SimulatedNetwork()
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    private func call(
        _ body: @escaping @Sendable () async throws -> Int
    ) -> Task<Int, any Error> {
        let task = Task(executorPreference: network.loop, operation: body)
        network.loop.run()
        return task
    }

    private func error(of task: Task<Int, any Error>) throws -> RPCError {
        try #require(throws: RPCError.self) { try network.loop.complete { try await task.value } }
    }

    // MARK: the server lives

    /// Row C5 of "What became of my call".
    @Test func `a call that was answered while the client was away gets its answer when it is back`() throws {
        let proxy = ProbeProxy(network.client())
        let answered = call { try await proxy.wait(1, milliseconds: 100) }
        network.cut()
        network.isServing = false
        network.loop.advance(by: .seconds(5))
        #expect(probe.executed == [1])
        network.isServing = true
        #expect(try network.loop.complete { try await answered.value } == 1)
        #expect(probe.executed == [1])
    }

    /// Row C9 of "What became of my call".
    @Test func `a call whose time is over before the client is back is told that the connection is lost`() throws {
        var configuration = RPCClient.Configuration()
        configuration.timeout = .seconds(5)
        let proxy = ProbeProxy(network.client(configuration))
        let call = call { try await proxy.wait(1, milliseconds: 100) }
        network.cut()
        network.isServing = false
        let error = try error(of: call)
        #expect(error.code == .deadlineExceeded && error.outcome == .unknown)
        #expect(error.message.contains("; the connection is lost and was not made again: "))
    }

    /// Row C5 of "What became of my call".
    @Test func `of a hundred calls none is lost or run twice, however often the connection breaks`() throws {
        let proxy = ProbeProxy(network.client())
        let calls = (0..<100).map { number in
            Task(executorPreference: network.loop) { try await proxy.wait(number, milliseconds: 200 * number) }
        }
        for number in 0..<20 {
            proxy.note(number)
            // A connection that lasts for less than a second is not made again at once each time.
            network.loop.advance(by: .milliseconds(1_050))
            network.cut(number.isMultiple(of: 2) ? .reset : .close)
        }
        for (number, call) in calls.enumerated() {
            #expect(try network.loop.complete { try await call.value } == number)
        }
        #expect(probe.executed.sorted() == Array(0..<100))
        #expect(probe.noted == Array(0..<20))
        #expect(network.dials == 21)
        #expect(network.sessions.count == 1)
    }

    @Test func `what nobody waits for any more when the client is back is stopped`() throws {
        let proxy = ProbeProxy(network.client())
        let abandoned = call { try await proxy.wait(1, milliseconds: 20_000) }
        network.cut()
        network.isServing = false
        network.loop.run()
        abandoned.cancel()
        #expect(throws: CancellationError.self) { try network.loop.complete { try await abandoned.value } }
        #expect(probe.cancelled.isEmpty)
        network.isServing = true
        #expect(try network.loop.complete { try await proxy.echo(2) } == 2)
        network.loop.run()
        #expect(probe.cancelled == [1])
        #expect(network.loop.now < Instant(nanoseconds: 20_000_000_000))
    }

    @Test func `a call that was cancelled before it arrived never runs`() throws {
        let proxy = ProbeProxy(network.client())
        #expect(try network.loop.complete { try await proxy.echo(1) } == 1)
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        let abandoned = call { try await proxy.echo(2) }
        network.cut()
        abandoned.cancel()
        network.inject(WireFaults())
        #expect(try network.loop.complete { try await proxy.echo(3) } == 3)
        #expect(throws: CancellationError.self) { try network.loop.complete { try await abandoned.value } }
        #expect(probe.executed == [1, 3])
    }

    @Test func `what arrives late over the former connection is not read`() throws {
        let proxy = ProbeProxy(network.client())
        #expect(try network.loop.complete { try await proxy.echo(1) } == 1)
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        let late = call { try await proxy.echo(2) }
        network.giveUpSilentConnections()
        network.injectOnce(WireFaults(), fromServer: false)
        #expect(try network.loop.complete { try await late.value } == 2)
        network.inject(WireFaults())
        network.loop.run()
        #expect(probe.executed == [1, 2])
    }

    // MARK: the server does not, or does not wait

    /// Row C6 of "What became of my call".
    @Test func `when the server has restarted only what may run twice is sent again`() throws {
        let client = network.client()
        let proxy = ProbeProxy(client)
        let lost = call { try await proxy.wait(1, milliseconds: 1_000) }
        network.exports.add(SettlerProxy(ProbeSettler(probe: probe)), named: nil)
        let settler = SettlerProxy(client)
        let repeated = call { try await settler.settle(2, milliseconds: 1_000) }
        network.isServing = false
        network.restart()
        network.loop.run()
        let unsent = call { try await proxy.echo(3) }
        network.isServing = true
        let error = try error(of: lost)
        #expect(error.code == .connectionLost)
        #expect(error.outcome == .unknown)
        #expect(try network.loop.complete { try await repeated.value } == 2)
        #expect(try network.loop.complete { try await unsent.value } == 3)
        #expect(probe.executed == [1, 2, 2, 3])
    }

    /// Row C6 of "What became of my call".
    @Test func `a client that stays away for the grace time leaves nothing behind`() throws {
        let proxy = ProbeProxy(network.client())
        let log = Lock<[String]>([])
        network.exports.add(ProbeProxy(Observing { log.withLock { $0.append("gone") } }), named: "observing")
        var configuration = RPCClient.Configuration()
        configuration.timeout = .seconds(200)
        let patient = network.client(configuration)
        #expect(try network.loop.complete { try await ProbeProxy(patient, named: "observing").echo(0) } == 0)
        let lost = call { try await ProbeProxy(patient).wait(1, milliseconds: 500_000) }
        network.cut()
        network.isServing = false
        network.loop.advance(by: .seconds(59))
        #expect(network.sessions.count == 1)
        #expect(probe.cancelled.isEmpty && log.withLock { $0.isEmpty })
        network.loop.advance(by: .seconds(2))
        #expect(network.sessions.count == 0)
        #expect(probe.cancelled == [1])
        #expect(log.withLock { $0 } == ["gone"])
        network.isServing = true
        let error = try error(of: lost)
        #expect(error.code == .connectionLost)
        #expect(error.outcome == .unknown)
        #expect(try network.loop.complete { try await proxy.echo(2) } == 2)
        #expect(probe.executed == [1, 2])
    }

    @Test func `a client that closes takes everything with it at once`() throws {
        let client = network.client()
        let proxy = ProbeProxy(client)
        let closed = call { try await proxy.wait(1, milliseconds: 1_000) }
        #expect(network.sessions.count == 1)
        client.close()
        #expect(try error(of: closed).code == .closed)
        network.loop.run()
        #expect(probe.cancelled == [1])
        #expect(network.sessions.count == 0)
    }

    @Test func `beyond the limit the session goes that has waited longest for its client`() throws {
        let network = SimulatedNetwork(maximumSessions: 2)
        network.exports.add(ProbeProxy(probe), named: nil)
        let clients = (0..<3).map { _ in network.client() }
        for number in 0..<2 {
            #expect(try network.loop.complete { try await ProbeProxy(clients[number]).echo(number) } == number)
            // Not a loss that could be made good: the client is told nothing and does not come back.
            network.cut(.silence)
            network.giveUpByServer()
            network.loop.run()
        }
        #expect(network.sessions.count == 2)
        #expect(try network.loop.complete { try await ProbeProxy(clients[2]).echo(2) } == 2)
        #expect(network.sessions.count == 2)
    }

    @Test func `a client that is away for longer than its session is kept lets go of it by itself`() throws {
        var configuration = RPCClient.Configuration()
        configuration.timeout = .seconds(600)
        let proxy = ProbeProxy(network.client(configuration))
        let running = call { try await proxy.wait(1, milliseconds: 300_000) }
        network.cut()
        network.isServing = false
        let error = try error(of: running)
        #expect(error.code == .connectionLost && error.outcome == .unknown)
        #expect(error.message.contains("(sessionGrace)"))
        #expect(network.loop.now >= Instant(nanoseconds: 60_000_000_000))
        #expect(network.loop.now < Instant(nanoseconds: 61_000_000_000))
        network.isServing = true
        #expect(try network.loop.complete { try await proxy.echo(2) } == 2)
        #expect(probe.executed == [1, 2])
    }
}

/// Says when its caller has gone.
private struct Observing: Probe {
    let gone: @Sendable () -> Void

    func echo(_ number: Int) async throws -> Int {
        Caller.current?.whenGone(gone)
        return number
    }
    func fail(_ number: Int) async throws -> Int { number }
    func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
    func refuse(_ number: Int) async throws -> Int { number }
    func note(_ number: Int) {}
}
