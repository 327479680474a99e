// Calls through a generated proxy to a peer in memory: each way a call can go, on a clock that is moved by hand.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `Calls` {
    private let network = SimulatedNetwork()
    private let probe: RecordingProbe

    init() {
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    @Test func `a result comes back`() throws {
        let proxy = ProbeProxy(network.client())
        #expect(try network.loop.complete { try await proxy.echo(7) } == 7)
        #expect(probe.executed == [7])
    }

    /// Row C22 of "What became of my call".
    @Test func `a declared error arrives as itself`() throws {
        let proxy = ProbeProxy(network.client())
        #expect(throws: ProbeFailure.asAsked(3)) { try network.loop.complete { try await proxy.fail(3) } }
    }

    /// Row C15 of "What became of my call".
    @Test func `a call for which its own end has no room was not executed, and names the limit`() throws {
        var configuration = RPCClient.Configuration()
        configuration.limits.maximumPendingCallBytes = 1
        let proxy = ProbeProxy(network.client(configuration))
        let first = StartedCall(on: network.loop) { try await proxy.wait(1, milliseconds: 1_000) }
        network.loop.run()
        let error = try #require(throws: RPCError.self) { try network.loop.complete { try await proxy.echo(2) } }
        #expect(error.code == .busy && error.outcome == .notExecuted)
        #expect(error.message.contains("maximumPendingCallBytes"))
        network.loop.advance(by: .seconds(1))
        #expect(first.value == 1 && probe.executed == [1])
    }

    @Test func `a method that the server does not have was not executed`() throws {
        let bare = SimulatedNetwork()
        let proxy = ProbeProxy(bare.client())
        let error = try #require(throws: RPCError.self) { try bare.loop.complete { try await proxy.echo(1) } }
        #expect(error.code == .noSuchObject)
        #expect(error.outcome == .notExecuted)
    }

    /// Row C23 of "What became of my call".
    @Test func `an object says of itself that it has done nothing, which is no sign that the server leaves`() throws {
        let proxy = ProbeProxy(network.client())
        let error = try #require(throws: RPCError.self) { try network.loop.complete { try await proxy.refuse(1) } }
        #expect(error.code == .unavailable)
        #expect(error.outcome == .notExecuted)
        #expect(error.message == "upstream is away")
        #expect(error.data == #""not JSON""#)
        #expect(probe.executed == [1])
        #expect(network.dials == 1)
    }

    /// Row C23 of "What became of my call".
    @Test func `what an object could not reach in turn was executed all the same`() throws {
        let upstream = SimulatedNetwork(loop: network.loop)
        upstream.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
        network.exports.add(ProbeProxy(AskingUpstream(upstream: ProbeProxy(upstream.client()))), named: "asking")
        let proxy = ProbeProxy(network.client(), named: "asking")
        let error = try #require(throws: RPCError.self) { try network.loop.complete { try await proxy.refuse(1) } }
        #expect(error.message == "upstream is away")
        #expect(error.outcome == .executed)
    }

    @Test(arguments: [#"{"draining":true}"#, #"{"outcome":"unknown"}"#, #"{"type":"ProbeFailure","error":1}"#])
    func `the data of an object's own error is not taken for the library's`(_ data: String) throws {
        network.exports.add(ProbeProxy(Feigning(data: data)), named: "feigning")
        let proxy = ProbeProxy(network.client(), named: "feigning")
        let error = try #require(throws: RPCError.self) { try network.loop.complete { try await proxy.refuse(1) } }
        #expect(error.data == data)
        #expect(error.outcome == .notExecuted)
        #expect(network.dials == 1)
    }

    @Test func `a call larger than a message may be is refused here and harms nobody`() throws {
        var configuration = RPCClient.Configuration()
        configuration.maximumFrameSize = 100
        let proxy = ProbeProxy(network.client(configuration))
        let error = try #require(throws: RPCError.self) { try network.loop.complete { try await proxy.echo(.max) } }
        #expect(error.code == .requestTooLarge)
        #expect(error.outcome == .notExecuted)
        #expect(error.message.contains("a message may have 100 (maximumFrameSize)"))
        #expect(probe.executed.isEmpty)
    }

    @Test func `of two deadlines the earlier one holds, whichever was set last`() throws {
        let proxy = ProbeProxy(network.client())
        let loop = network.loop
        let long = Task(executorPreference: loop) { try await proxy.wait(1, milliseconds: 1_000_000) }
        let short = Task(executorPreference: loop) {
            try await CallScope.with(CallScope(deadline: Instant(nanoseconds: 5_000_000))) {
                try await proxy.wait(2, milliseconds: 1_000_000)
            }
        }
        #expect(throws: RPCError.self) { try loop.complete { try await short.value } }
        #expect(loop.now == Instant(nanoseconds: 5_000_000))
        #expect(throws: RPCError.self) { try loop.complete { try await long.value } }
        #expect(loop.now == Instant(nanoseconds: 30_000_000_000))
    }

    /// Row C10 of "What became of my call".
    @Test func `a call whose deadline is over does not run`() throws {
        let (proxy, loop) = (ProbeProxy(network.client()), network.loop)
        loop.pass(.milliseconds(10))
        let call = Task(executorPreference: loop) {
            return try await CallScope.with(CallScope(deadline: Instant(nanoseconds: 5_000_000))) {
                try await proxy.echo(1)
            }
        }
        let error = try #require(throws: RPCError.self) { try loop.complete { try await call.value } }
        #expect(error.code == .deadlineExceeded)
        #expect(error.outcome == .notExecuted)
        #expect(probe.executed.isEmpty)
    }

    /// Row C9 of "What became of my call".
    @Test func `a call that takes too long ends at its deadline and stops the subject`() throws {
        let proxy = ProbeProxy(network.client())
        let error = try #require(throws: RPCError.self) {
            try network.loop.complete { try await proxy.wait(1, milliseconds: 60_000) }
        }
        #expect(error.code == .deadlineExceeded)
        #expect(error.outcome == .unknown)
        #expect(network.loop.now == Instant(nanoseconds: 30_000_000_000))
        network.loop.run()
        #expect(probe.cancelled == [1])
    }

    /// Row C1 of "What became of my call".
    @Test func `a call without a connection waits until its deadline`() throws {
        network.isServing = false
        let proxy = ProbeProxy(network.client())
        let error = try #require(throws: RPCError.self) { try network.loop.complete { try await proxy.echo(1) } }
        #expect(error.code == .unavailable)
        #expect(error.outcome == .notExecuted)
        #expect(error.message.contains("the server is away"))
        #expect(network.loop.now == Instant(nanoseconds: 30_000_000_000))
    }

    /// Row C12 of "What became of my call".
    @Test func `cancelling the task ends the call at once and stops the subject`() throws {
        let proxy = ProbeProxy(network.client())
        let loop = network.loop
        let call = Task(executorPreference: loop) { try await proxy.wait(1, milliseconds: 1_000) }
        loop.run()
        #expect(probe.executed == [1])
        call.cancel()
        #expect(throws: CancellationError.self) { try loop.complete { try await call.value } }
        loop.run()
        #expect(probe.cancelled == [1])
        #expect(loop.now == Instant(nanoseconds: 0))
    }

    /// Row C12 of "What became of my call".
    @Test func `cancelled at any moment, a call ends by that until its own answer has arrived`() throws {
        let proxy = ProbeProxy(network.client())
        let loop = network.loop
        #expect(try loop.complete { try await proxy.echo(0) } == 0)
        var wereAnswered: [Bool] = []
        var goesOn = true
        while goesOn {
            let moment = wereAnswered.count
            let call = Task(executorPreference: loop) { try await proxy.echo(moment + 1) }
            for _ in 0..<moment where goesOn { goesOn = loop.step() }
            call.cancel()
            do {
                #expect(try loop.complete { try await call.value } == moment + 1)
                wereAnswered.append(true)
            } catch {
                #expect(error is CancellationError)
                wereAnswered.append(false)
            }
            loop.run()
        }
        let cancelled = wereAnswered.count { !$0 }
        #expect(!wereAnswered.drop { !$0 }.contains(false))
        // At the last moment the task is over already. At the one before, it has its answer and does not run yet.
        #expect(cancelled >= 3 && wereAnswered.count - cancelled >= 2)
        #expect(Set(probe.executed).count == probe.executed.count)
    }

    @Test func `a task that was cancelled before calls nobody`() throws {
        let proxy = ProbeProxy(network.client())
        let loop = network.loop
        let call = Task(executorPreference: loop) { try await proxy.echo(1) }
        call.cancel()
        #expect(throws: CancellationError.self) { try loop.complete { try await call.value } }
        loop.run()
        #expect(probe.executed.isEmpty)
    }

    @Test func `a call in flight when the connection breaks is answered over the next, and has run once`() throws {
        let proxy = ProbeProxy(network.client())
        let loop = network.loop
        let call = Task(executorPreference: loop) { try await proxy.wait(1, milliseconds: 1_000) }
        loop.run()
        network.cut()
        #expect(try loop.complete { try await call.value } == 1)
        #expect(loop.now == Instant(nanoseconds: 1_000_000_000))
        #expect(probe.executed == [1])
        #expect(network.dials == 2)
    }

    /// Row C6 of "What became of my call".
    @Test func `a call in flight when the server dies fails as soon as another is there, and says it may have run`()
        throws
    {
        var configuration = RPCClient.Configuration()
        configuration.reconnect.initial = .zero
        let proxy = ProbeProxy(network.client(configuration))
        let loop = network.loop
        let call = Task(executorPreference: loop) { try await proxy.wait(1, milliseconds: 1_000) }
        loop.run()
        network.restart()
        let error = try #require(throws: RPCError.self) { try loop.complete { try await call.value } }
        #expect(error.code == .connectionLost)
        #expect(error.outcome == .unknown)
        #expect(loop.now == Instant(nanoseconds: 0))
        #expect(try loop.complete { try await proxy.echo(2) } == 2)
    }

    /// Row C4 of "What became of my call".
    @Test func `a call that had not left when the connection broke goes out on the next`() throws {
        let client = network.client()
        let proxy = ProbeProxy(client)
        let loop = network.loop
        #expect(try loop.complete { try await proxy.echo(1) } == 1)
        var faults = WireFaults()
        faults.capacity = 0
        network.inject(faults)
        let call = Task(executorPreference: loop) { try await proxy.echo(2) }
        loop.run()
        network.cut()
        network.inject(WireFaults())
        #expect(try loop.complete { try await call.value } == 2)
        #expect(probe.executed == [1, 2])
    }

    /// Row C26 of "What became of my call".
    @Test func `closing ends everything pending, sent or not`() throws {
        let client = network.client()
        let proxy = ProbeProxy(client)
        let loop = network.loop
        let sent = Task(executorPreference: loop) { try await proxy.wait(1, milliseconds: 1_000) }
        loop.run()
        network.cut()
        network.isServing = false
        loop.run()
        let waiting = Task(executorPreference: loop) { try await proxy.echo(2) }
        loop.run()
        client.close()
        let outcomes = try [sent, waiting].map { task in
            try #require(throws: RPCError.self) { try loop.complete { try await task.value } }
        }
        #expect(outcomes.map(\.code) == [.closed, .closed])
        #expect(outcomes.map(\.outcome) == [.unknown, .notExecuted])
        let later = try #require(throws: RPCError.self) { try loop.complete { try await proxy.echo(3) } }
        #expect(later.code == .closed)
        #expect(later.outcome == .notExecuted)
    }

    @Test func `posts arrive in order, those made before there is a connection too`() throws {
        let proxy = ProbeProxy(network.client())
        for number in 0..<50 { proxy.note(number) }
        network.loop.run()
        for number in 50..<100 { proxy.note(number) }
        #expect(try network.loop.complete { try await proxy.echo(1) } == 1)
        #expect(probe.noted == Array(0..<100))
    }

    @Test func `a hundred calls share a connection and each gets its own answer`() throws {
        let proxy = ProbeProxy(network.client())
        let results = try network.loop.complete {
            try await withThrowingTaskGroup(of: (Int, Int).self) { group in
                for number in 0..<100 {
                    group.addTask { (number, try await proxy.wait(number, milliseconds: 100 - number)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(results.allSatisfy { $0.0 == $0.1 })
        #expect(network.dials == 1)
    }

    @Test func `a deadline is kept when another thread sets it while a later one is being set`() throws {
        let loop = network.loop
        let interrupted = InterruptedLoop(loop)
        let dialer = Dialer(loop: interrupted) { [network] done in network.dialer.dial(done) }
        let proxy = ProbeProxy(RPCClient(dialer, RPCClient.Configuration(), chance: { 1 }))
        #expect(try loop.complete { try await proxy.echo(1) } == 1)
        let later = StartedCall(on: loop, within: .seconds(20)) { try await proxy.wait(2, milliseconds: 60_000) }
        let earlier = StartedCall(on: loop, within: .seconds(10)) { try await proxy.wait(3, milliseconds: 60_000) }
        interrupted.nextTimer {
            let isDone = Barrier()
            let hasThread: Void? = try? SystemThread.start(name: "other") {
                loop.run()
                isDone.open()
            }
            if hasThread != nil { isDone.wait() }
        }
        loop.run()
        #expect(probe.executed == [1, 2, 3])
        loop.advance(by: .seconds(10))
        #expect(earlier.rpcError?.code == .deadlineExceeded && !later.isOver)
        loop.advance(by: .seconds(10))
        #expect(later.rpcError?.code == .deadlineExceeded)
    }

    @Test func `the bytes may come in pieces of any size`() throws {
        for size in 1...7 {
            var faults = WireFaults()
            faults.pieceSize = size
            network.inject(faults)
            let proxy = ProbeProxy(network.client())
            #expect(try network.loop.complete { try await proxy.echo(size) } == size)
        }
    }

    /// Row C16 of "What became of my call".
    @Test func `a draining server finishes what runs, and the rest waits for the next`() throws {
        let proxy = ProbeProxy(network.client())
        let loop = network.loop
        let running = Task(executorPreference: loop) { try await proxy.wait(1, milliseconds: 50) }
        loop.run()
        network.drain()
        let next = Task(executorPreference: loop) { try await proxy.echo(2) }
        loop.run()
        #expect(probe.executed == [1])
        #expect(try loop.complete { try await running.value } == 1)
        network.isServing = true
        #expect(try loop.complete { try await next.value } == 2)
        #expect(network.dials > 1)
    }
}

/// A manual loop on which something can happen right before a timer is set.
private final class InterruptedLoop: Loop {
    private let loop: ManualLoop
    private let interruption = Lock<(@Sendable () -> Void)?>(nil)

    init(_ loop: ManualLoop) { self.loop = loop }

    /// What happens when the next timer is set, once.
    func nextTimer(_ interruption: @escaping @Sendable () -> Void) { self.interruption.withLock { $0 = interruption } }

    var now: Instant { loop.now }
    var isCurrent: Bool { loop.isCurrent }
    func submit(_ work: @escaping @Sendable () -> Void) { loop.submit(work) }
    func atEndOfTurn(_ work: any TurnEndWork, _ hint: FlushHint) { loop.atEndOfTurn(work, hint) }
    func enqueue(_ job: consuming ExecutorJob) { loop.enqueue(job) }

    func schedule(at instant: Instant, _ work: @escaping @Sendable () -> Void) -> any LoopTimer {
        interruption.withLock { $0.take() }?()
        return loop.schedule(at: instant, work)
    }
}

/// Lets the errors of the calls that it makes pass.
private struct AskingUpstream: Probe {
    let upstream: ProbeProxy

    func echo(_ number: Int) async throws -> Int { try await upstream.echo(number) }
    func fail(_ number: Int) async throws -> Int { try await upstream.fail(number) }
    func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
    func refuse(_ number: Int) async throws -> Int { try await upstream.refuse(number) }
    func note(_ number: Int) {}
}

/// Throws errors with data that the library uses itself.
private struct Feigning: Probe {
    let data: String

    func echo(_ number: Int) async throws -> Int { number }
    func fail(_ number: Int) async throws -> Int { number }
    func wait(_ number: Int, milliseconds: Int) async throws -> Int { number }
    func refuse(_ number: Int) async throws -> Int {
        throw RPCError(.unavailable, "upstream is away", outcome: .notExecuted, data: data)
    }
    func note(_ number: Int) {}
}
