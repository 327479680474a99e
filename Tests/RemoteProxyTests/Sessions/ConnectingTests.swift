// What a client does and tells while there is no connection: to the callers of `connect`, to calls, in its states and in its
// log. On a clock that is moved by hand.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Connecting` {
    private let network = SimulatedNetwork()
    private let probe: RecordingProbe
    private let log = Lock<[String]>([])

    init() {
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    private var loop: ManualLoop { network.loop }
    private var lines: [String] { log.withLock { $0 } }

    private func configuration(_ change: (inout RPCClient.Configuration) -> Void = { _ in }) -> RPCClient.Configuration
    {
        var configuration = RPCClient.Configuration()
        configuration.log = { [log] line in log.withLock { $0.append(line.message) } }
        change(&configuration)
        return configuration
    }

    private func client(_ change: (inout RPCClient.Configuration) -> Void = { _ in }) -> RPCClient {
        network.client(configuration(change))
    }

    /// A client whose attempts to connect all fail, for the reason that stands there.
    private func client(
        failing reason: Lock<SetupError>, _ change: (inout RPCClient.Configuration) -> Void = { _ in }
    ) -> RPCClient {
        let dialer = Dialer(loop: loop, handoff: loop) { [loop] done in
            loop.submit { done(.failure(reason.withLock { $0 })) }
            return {}
        }
        return RPCClient(dialer, configuration(change), chance: { 1 })
    }

    private func connecting(_ client: RPCClient, within limit: Duration? = nil) -> StartedCall {
        StartedCall(on: loop, within: limit) {
            try await client.connect()
            return 0
        }
    }

    /// The state that the client is in.
    private func state(of client: RPCClient) throws -> RPCClient.State? {
        try loop.complete {
            for await state in client.states { return state }
            return nil
        }
    }

    // MARK: connect

    @Test func `connect returns when the server has greeted, and at once when there is a connection`() throws {
        let client = client()
        #expect(try state(of: client) == .idle)
        try loop.complete { try await client.connect() }
        #expect(try state(of: client) == .connected(resumed: false))
        try loop.complete { try await client.connect() }
        #expect(network.dials == 1 && lines.isEmpty)
    }

    @Test func `connect fails with the first attempt, and the client goes on`() throws {
        network.isServing = false
        let client = client()
        let connecting = [connecting(client), connecting(client)]
        loop.run()
        for error in connecting.map(\.rpcError) {
            #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
            #expect(error?.message == "there is no connection: the server is away")
        }
        #expect(network.dials == 1)
        network.isServing = true
        #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1)
    }

    @Test func `connect does not wait for the next attempt but makes it`() throws {
        network.isServing = false
        let client = client { $0.reconnect = Backoff(initial: .seconds(10), maximum: .seconds(10)) }
        #expect(throws: RPCError.self) { try loop.complete { try await client.connect() } }
        network.isServing = true
        let now = loop.now
        try loop.complete { try await client.connect() }
        #expect(loop.now == now && network.dials == 2)
        // The attempt that was due is not made any more.
        loop.advance(by: .seconds(20))
        #expect(network.dials == 2)
    }

    @Test func `connect waits no longer for a greeting than an attempt may take`() {
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        let connecting = connecting(client { $0.connectTimeout = .seconds(3) })
        loop.advance(by: .milliseconds(2_999))
        #expect(!connecting.isOver)
        loop.advance(by: .milliseconds(1))
        #expect(connecting.rpcError?.code == .unavailable)
        #expect(
            connecting.rpcError?.message
                == "there is no connection: memory:right: no greeting within 3.0 seconds (connectTimeout)")
    }

    @Test func `without a connection connect does not speak of a greeting`() {
        let silent = Dialer(loop: loop, handoff: loop) { _ in {} }
        var configuration = RPCClient.Configuration()
        configuration.connectTimeout = .seconds(3)
        let client = RPCClient(silent, configuration)
        let connecting = connecting(client)
        loop.run()
        loop.advance(by: .seconds(3))
        #expect(
            connecting.rpcError?.message == "there is no connection: no connection within 3.0 seconds (connectTimeout)")
        #expect("\(RPCClient.State.idle) \(RPCClient.State.connected(resumed: true))" == "idle connected, resumed")
        let waiting = RPCClient.State.waiting(
            until: .now.advanced(by: .seconds(-1)), because: .notConnected("no route"))
        #expect("\(waiting)" == "waiting for 0.0 seconds: there is no connection: no route")
    }

    @Test func `an attempt that does not end is given up, when its time is over or its client closes`() {
        let (begun, givenUp) = (Lock(0), Lock(0))
        let dialer = Dialer(loop: loop, handoff: loop) { _ in
            begun.withLock { $0 += 1 }
            return { givenUp.withLock { $0 += 1 } }
        }
        let client = RPCClient(dialer, configuration { $0.connectTimeout = .seconds(3) }, chance: { 1 })
        let waiting = connecting(client)
        loop.advance(by: .milliseconds(2_999))
        #expect(begun.withLock { $0 } == 1 && givenUp.withLock { $0 } == 0)
        loop.advance(by: .milliseconds(1))
        #expect(waiting.isOver && givenUp.withLock { $0 } == 1)
        loop.advance(by: .milliseconds(100))
        #expect(begun.withLock { $0 } == 2 && givenUp.withLock { $0 } == 1)
        client.close()
        #expect(givenUp.withLock { $0 } == 2 && loop.nextDeadline == nil)
    }

    @Test func `connect ends when its task is cancelled, out of time, or left by its client`() {
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        let client = client()
        let (cancelled, late, left) = (connecting(client), connecting(client, within: .seconds(1)), connecting(client))
        loop.run()
        cancelled.cancel()
        loop.run()
        #expect(cancelled.error is CancellationError && !late.isOver)
        loop.advance(by: .seconds(1))
        #expect(late.rpcError?.code == .unavailable && late.rpcError?.outcome == .notExecuted)
        #expect(late.rpcError?.message.contains("the time allowed is over; memory:right has taken") == true)
        #expect(!left.isOver)
        client.close()
        let tooLate = connecting(client)
        loop.run()
        for call in [left, tooLate] {
            #expect(call.rpcError?.code == .closed && call.rpcError?.outcome == .notExecuted)
        }
    }

    @Test func `connect to an address that cannot be understood says so`() async {
        let error = await #expect(throws: RPCError.self) { try await RPCClient("here").connect() }
        #expect(error?.code == .invalidAddress && error?.outcome == .notExecuted)
    }

    // MARK: calls that do not wait

    /// Row C2 of "What became of my call".
    @Test func `a call that does not wait ends with the first failed attempt, a later one at once`() throws {
        network.isServing = false
        let client = client { $0.waitsForConnection = false }
        let proxy = ProbeProxy(client)
        proxy.note(1)
        for _ in 0..<2 {
            let start = loop.now
            let error = #expect(throws: RPCError.self) { try loop.complete { try await proxy.echo(2) } }
            #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
            #expect(error?.message == "Probe.echo: the call could not be sent: the server is away")
            #expect(loop.now == start)
        }
        // Posts wait as ever, and the client has gone on by itself.
        network.isServing = true
        loop.advance(by: .seconds(1))
        #expect(probe.noted == [1])
        #expect(try loop.complete { try await proxy.echo(3) } == 3)
    }

    @Test func `a call that was sent waits for its session, whether or not calls wait for a connection`() throws {
        let client = client { $0.waitsForConnection = false }
        let proxy = ProbeProxy(client)
        #expect(try loop.complete { try await proxy.echo(1) } == 1)
        let call = StartedCall(on: loop) { try await proxy.wait(2, milliseconds: 5_000) }
        loop.run()
        network.isServing = false
        network.cut()
        loop.advance(by: .seconds(1))
        #expect(!call.isOver)
        network.isServing = true
        loop.advance(by: .seconds(5))
        #expect(call.value == 2 && probe.executed == [1, 2])
    }

    @Test func `calls end at once when no later attempt can succeed`() throws {
        let reason = Lock(SetupError("there is no such host", isLasting: true))
        let client = client(failing: reason)
        let start = loop.now
        for _ in 0..<2 {
            let error = #expect(throws: RPCError.self) { try loop.complete { try await ProbeProxy(client).echo(1) } }
            #expect(error?.code == .unavailable && error?.outcome == .notExecuted)
            #expect(error?.message == "Probe.echo: the call could not be sent: there is no such host")
        }
        // The second call has waited for the second attempt.
        #expect(start.duration(to: loop.now) == .milliseconds(100))
        #expect(lines == ["cannot connect, trying again: there is no such host"])
    }

    @Test func `a call made long after such a failure asks for an attempt, at most one a second`() throws {
        let client = client(failing: Lock(SetupError("there is no such host", isLasting: true)))
        _ = try? loop.complete { try await ProbeProxy(client).echo(1) }
        // By now the client waits 10 s after each attempt.
        loop.advance(by: .seconds(60))
        for wait in [Duration.zero, .seconds(1), .seconds(1)] {
            let start = loop.now
            #expect(throws: RPCError.self) { try loop.complete { try await ProbeProxy(client).echo(1) } }
            #expect(start.duration(to: loop.now) <= wait)
        }
    }

    /// Row C3 of "What became of my call".
    @Test(arguments: [false, true])
    func `a call that was sent outlives a while with no such host, or with another server`(_ hasServer: Bool) throws {
        let isAway = Lock(false)
        let dialer = Dialer(loop: loop, handoff: loop) { [loop, network] done in
            guard isAway.withLock({ $0 }) else { return network.dialer.dial(done) }
            loop.submit {
                guard hasServer else { return done(.failure(SetupError("there is no such host", isLasting: true))) }
                let (near, far) = MemoryChannel.pair(on: loop)
                _ = Bytes("HTTP/1.1 503 Service Unavailable").withUnsafeBytes { far.append($0, framing: .lines) }
                far.flush()
                done(.success(near))
            }
            return {}
        }
        let proxy = ProbeProxy(RPCClient(dialer, configuration(), chance: { 1 }))
        #expect(try loop.complete { try await proxy.echo(1) } == 1)
        let sent = StartedCall(on: loop) { try await proxy.wait(2, milliseconds: 5_000) }
        loop.run()
        isAway.withLock { $0 = true }
        network.cut()
        let waiting = StartedCall(on: loop) { try await proxy.echo(3) }
        loop.advance(by: .seconds(1))
        #expect(!sent.isOver && waiting.rpcError?.code == .unavailable)
        isAway.withLock { $0 = false }
        loop.advance(by: .seconds(5))
        #expect(sent.value == 2 && probe.executed == [1, 2])
    }

    @Test func `a call whose answer may still come asks for the next attempt within a second`() throws {
        let isAway = Lock(false)
        let dials = Lock<[Instant]>([])
        let dialer = Dialer(loop: loop, handoff: loop) { [loop, network] done in
            dials.withLock { $0.append(loop.now) }
            guard isAway.withLock({ $0 }) else { return network.dialer.dial(done) }
            loop.submit { done(.failure(SetupError("there is no such host", isLasting: true))) }
            return {}
        }
        let configuration = configuration { $0.reconnect = Backoff(initial: .seconds(10), maximum: .seconds(10)) }
        let proxy = ProbeProxy(RPCClient(dialer, configuration, chance: { 1 }))
        #expect(try loop.complete { try await proxy.echo(1) } == 1)
        let sent = StartedCall(on: loop) { try await proxy.wait(2, milliseconds: 5_000) }
        loop.run()
        isAway.withLock { $0 = true }
        network.cut()
        loop.advance(by: .milliseconds(2_500))
        #expect(dials.withLock { Array($0.dropFirst()) } == [0, 1, 2].map { Instant(nanoseconds: $0 * 1_000_000_000) })
        isAway.withLock { $0 = false }
        loop.advance(by: .milliseconds(2_500))
        #expect(sent.value == 2)
    }

    // MARK: programs that run for a client alone

    /// A client of a program whose sessions end with it, or go on for a while.
    private func client(
        ofProgramKeepingFor grace: Duration, _ dials: Lock<Int>, isFailing: Lock<Bool> = Lock(false),
        waits: Bool = true
    ) -> (RPCClient, SimulatedNetwork) {
        let program = SimulatedNetwork(loop: loop)
        program.exports.add(ProbeProxy(probe), named: nil)
        let dialer = Dialer(loop: loop, handoff: loop, startsProgram: true) { [loop] done in
            dials.withLock { $0 += 1 }
            guard isFailing.withLock({ $0 }) else { return program.dialer.dial(done) }
            loop.submit { done(.failure(SetupError("it has ended at once"))) }
            return {}
        }
        let configuration = configuration { ($0.waitsForConnection, $0.sessionGrace) = (waits, grace) }
        return (RPCClient(dialer, configuration, chance: { 1 }), program)
    }

    @Test func `a program that has ended is started again by the next call`() throws {
        let dials = Lock(0)
        let (client, program) = client(ofProgramKeepingFor: .zero, dials)
        let proxy = ProbeProxy(client)
        for count in 1...3 {
            #expect(try loop.complete { try await proxy.echo(count) } == count)
            loop.advance(by: .seconds(2))
            program.cut()
            loop.advance(by: .seconds(60))
            #expect(dials.withLock { $0 } == count)
            #expect(try state(of: client) == .idle)
        }
        try loop.complete { try await client.connect() }
        #expect(dials.withLock { $0 } == 4)
    }

    @Test func `a program that cannot be started is tried as long as a call waits, and then no more`() throws {
        let (dials, isFailing) = (Lock(0), Lock(true))
        let proxy = ProbeProxy(client(ofProgramKeepingFor: .zero, dials, isFailing: isFailing).0)
        let call = StartedCall(on: loop, within: .seconds(5)) { try await proxy.echo(1) }
        loop.advance(by: .seconds(30))
        #expect(call.rpcError?.code == .unavailable)
        let tried = dials.withLock { $0 }
        #expect(tried > 2)
        loop.advance(by: .seconds(600))
        #expect(dials.withLock { $0 } == tried)
        isFailing.withLock { $0 = false }
        #expect(try loop.complete { try await proxy.echo(2) } == 2)
        #expect(dials.withLock { $0 } == tried + 1)
    }

    @Test
    func `a call that waits for no connection waits for the program that it starts, although it has failed before`()
        throws
    {
        let (dials, isFailing) = (Lock(0), Lock(true))
        let proxy = ProbeProxy(
            client(ofProgramKeepingFor: .zero, dials, isFailing: isFailing, waits: false).0)
        #expect(throws: RPCError.self) { try loop.complete { try await proxy.echo(1) } }
        loop.advance(by: .seconds(60))
        isFailing.withLock { $0 = false }
        #expect(try loop.complete { try await proxy.echo(2) } == 2)
        #expect(dials.withLock { $0 } == 2)
    }

    @Test func `a program is started again at once for its session, calls, posts, exports and readers of states`()
        throws
    {
        let dials = Lock(0)
        func lose(keepingFor grace: Duration = .zero, _ use: (RPCClient) throws -> Void) throws -> Int {
            dials.withLock { $0 = 0 }
            let (client, program) = client(ofProgramKeepingFor: grace, dials)
            #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1)
            loop.advance(by: .seconds(2))
            try use(client)
            program.cut()
            loop.advance(by: .seconds(2))
            return dials.withLock { $0 }
        }
        #expect(try lose { _ in } == 1)
        #expect(try lose(keepingFor: .seconds(60)) { _ in } == 2)
        var call: StartedCall?
        #expect(
            try lose { client in
                call = StartedCall(on: loop) { try await ProbeProxy(client).wait(2, milliseconds: 5_000) }
                loop.run()
            } == 2)
        withExtendedLifetime(call) {}
        let export = Lock<Registration?>(nil)
        #expect(try lose { client in export.withLock { $0 = client.export(ProbeProxy(probe)) } } == 2)
        var states: (any AsyncSequence<RPCClient.State, Never>)?
        #expect(try lose { client in states = client.states } == 2)
        withExtendedLifetime(states) {}
    }

    @Test func `a failover waits for each of its programs, also for one that was left alone`() throws {
        let (first, isFailing) = (Lock(0), Lock(true))
        let one = client(ofProgramKeepingFor: .zero, first, isFailing: isFailing).0
        // Takes as long to fail as the other one needs to be left alone.
        let slow = Dialer(loop: loop, handoff: loop, startsProgram: true) { [loop] done in
            loop.schedule(at: loop.now.advanced(by: .seconds(2))) { done(.failure(SetupError("it has ended"))) }
            return {}
        }
        let other = RPCClient(slow, configuration(), chance: { 1 })
        let both = ProbeProxy.failover([ProbeProxy(one), ProbeProxy(other)], clock: loop)
        let call = StartedCall(on: loop, within: .seconds(60)) { try await both.echo(1) }
        loop.advance(by: .seconds(5))
        #expect(!call.isOver)
        isFailing.withLock { $0 = false }
        loop.advance(by: .seconds(15))
        #expect(call.value == 1)
    }

    /// Reaches a server that says this to everybody, and then ends the connection or not.
    private func dialer(hearing text: String, ends: Bool, _ dials: Lock<Int> = Lock(0)) -> Dialer {
        Dialer(loop: loop, handoff: loop) { [loop] done in
            loop.submit {
                dials.withLock { $0 += 1 }
                let (near, far) = MemoryChannel.pair(on: loop)
                if !text.isEmpty { Bytes(text).withUnsafeBytes { _ = far.append($0, framing: .lines) } }
                if ends { far.close() } else { far.flush() }
                done(.success(near))
            }
            return {}
        }
    }

    @Test(arguments: [
        "", #"{"jsonrpc":"2.0","id":99,"result":null}"#,
        #"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"too many connections"}}"#,
    ])
    func `a server that drops its connections is left in peace, whatever it says`(_ text: String) {
        let dials = Lock(0)
        let configuration = configuration { $0.peer = .jsonRPC(.lines) }
        let client = RPCClient(dialer(hearing: text, ends: true, dials), configuration, chance: { 1 })
        let call = StartedCall(on: loop) { try await ProbeProxy(client).echo(1) }
        loop.advance(by: .seconds(60))
        #expect(call.isOver)
        #expect((5...20).contains(dials.withLock { $0 }))
    }

    @Test func `a call made at once behind a failure that lasts waits a second at most`() {
        let client = RPCClient(dialer(hearing: "HTTP/1.1 400", ends: false), configuration(), chance: { 1 })
        for _ in 0..<12 {
            let start = loop.now
            #expect(throws: RPCError.self) { try loop.complete { try await ProbeProxy(client).echo(1) } }
            #expect(start.duration(to: loop.now) <= .seconds(1))
        }
    }

    // MARK: states and log

    @Test func `a state tells whether the session goes on, and why there is no connection`() throws {
        let client = client { $0.reconnect = Backoff(initial: .seconds(1), maximum: .seconds(1)) }
        try loop.complete { try await client.connect() }
        network.cut()
        loop.advance(by: .seconds(1))
        #expect(try state(of: client) == .connected(resumed: true))
        network.restart()
        loop.advance(by: .seconds(1))
        #expect(try state(of: client) == .connected(resumed: false))
        network.isServing = false
        network.cut()
        for reason in ["the wire was cut", "the server is away"] {
            loop.run()
            guard case .waiting(_, let why)? = try state(of: client) else {
                Issue.record("the client does not wait")
                return
            }
            #expect(why.message == "there is no connection: \(reason)")
            loop.advance(by: .seconds(1))
        }
    }

    @Test func `the log is told once why connecting fails, until that changes or there was a connection`() throws {
        network.isServing = false
        let client = client()
        _ = connecting(client)
        loop.advance(by: .seconds(60))
        let line = "cannot connect, trying again: the server is away"
        #expect(network.dials > 3 && lines == [line])
        network.isServing = true
        loop.advance(by: .seconds(60))
        network.isServing = false
        network.cut()
        loop.advance(by: .seconds(60))
        #expect(lines == [line, line])
    }

    @Test func `the log is told of another reason`() {
        let reason = Lock(SetupError("refused"))
        let client = client(failing: reason)
        _ = connecting(client)
        loop.advance(by: .seconds(60))
        reason.withLock { $0 = SetupError("no route") }
        loop.advance(by: .seconds(60))
        #expect(lines == ["refused", "no route"].map { "cannot connect, trying again: \($0)" })
    }
}
