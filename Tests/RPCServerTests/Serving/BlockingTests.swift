// Objects that block their thread, and those who share it with them. All on a server with one thread.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Synchronization
import TestSupport
import Testing

/// Blocks when it is asked to, and answers everybody else at once.
private final class BlockingGreeter: Greeter {
    enum Event: Equatable { case blocks(String), saw(cancellation: Bool) }

    let barrier = Barrier()
    /// Whether it has been asked to wait for its caller to give up.
    var hasWaited: Bool { waits.load(ordering: .relaxed) > 0 }
    private let waits = Atomic(0)
    let events: AsyncStream<Event>
    private let report: AsyncStream<Event>.Continuation

    init() { (events, report) = AsyncStream.makeStream() }

    func greet(_ name: String) async throws -> String {
        switch name {
        case "later":
            await Task.yield()
            try? await Task.sleep(for: .microseconds(1))
            block(name)
        case "child":
            async let child: Void = block(name)
            await child
        case "until cancelled":
            waits.add(1, ordering: .relaxed)
            report.yield(.blocks(name))
            while !Task.isCancelled {}
            report.yield(.saw(cancellation: true))
        case _ where name.hasPrefix("block"): block(name)
        default: break
        }
        return "Hello, \(name)!"
    }

    private func block(_ name: String) {
        report.yield(.blocks(name))
        barrier.wait()
    }
}

/// A server with one thread, and the object that blocks it.
private struct BlockedServer {
    let object = BlockingGreeter()
    let log = LogLines()
    let server: RPCServer
    let transport: Transport

    init(
        over medium: Medium = .socket, _ configure: (inout RPCServer.Configuration) -> Void = { _ in }
    ) async throws {
        var configuration = RPCServer.Configuration()
        configuration.log = log.write
        configure(&configuration)
        server = RPCServer(configuration)
        server.export(GreeterProxy(object))
        transport = try await server.reached(over: medium)
    }

    func greeter() -> GreeterProxy { GreeterProxy(RPCClient(transport, .patient)) }

    /// Begins a call and waits until it has blocked its thread.
    func block(_ name: String = "block", through greeter: GreeterProxy) async -> Task<String, any Error> {
        let call = Task { try await greeter.greet(name) }
        #expect(await object.events.first { _ in true } == .blocks(name))
        return call
    }
}

@Suite(.waitsForOthers) struct `An object that blocks` {
    @Test(arguments: ["block", "later", "child"], Medium.allCases)
    func `does not keep a neighbour waiting`(how: String, over medium: Medium) async throws {
        let blocked = try await BlockedServer(over: medium)
        let call = await blocked.block(how, through: blocked.greeter())
        #expect(try await blocked.greeter().greet("neighbour") == "Hello, neighbour!")
        // The thread of the clients is not the server's own.
        if medium != .memory { #expect(blocked.server.counters.threadTakeovers >= 1) }
        blocked.object.barrier.open()
        #expect(try await call.value == "Hello, \(how)!")
        await blocked.server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `does not keep the other calls of its own connection waiting`(over medium: Medium) async throws {
        let blocked = try await BlockedServer(over: medium)
        let greeter = blocked.greeter()
        let call = await blocked.block(through: greeter)
        for number in 0..<100 { #expect(try await greeter.greet("\(number)") == "Hello, \(number)!") }
        blocked.object.barrier.open()
        #expect(try await call.value == "Hello, block!")
        await blocked.server.stop()
    }

    @Test func `may block many times at once, beside those who do not`() async throws {
        let blocked = try await BlockedServer()
        let greeter = blocked.greeter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask { try await Self.greet("block \(number)", through: greeter) }
                group.addTask { try await Self.greet("\(number)", through: greeter) }
            }
            // All block at the same time before the first goes on.
            await until { blocked.server.counters.threadTakeovers >= 39 }
            blocked.object.barrier.open(for: 40)
            try await group.waitForAll()
        }
        await blocked.server.stop()
    }

    private static func greet(_ name: String, through greeter: GreeterProxy) async throws {
        #expect(try await greeter.greet(name) == "Hello, \(name)!")
    }

    @Test(arguments: Medium.allCases)
    func `hears that its caller has cancelled`(over medium: Medium) async throws {
        let blocked = try await BlockedServer(over: medium)
        let call = await blocked.block("until cancelled", through: blocked.greeter())
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(await blocked.object.events.first { _ in true } == .saw(cancellation: true))
        await blocked.server.stop()
    }

    @Test func `hears that its caller's time is over`() async throws {
        let blocked = try await BlockedServer()
        let greeter = blocked.greeter()
        _ = try await greeter.greet("connect")
        var timeout = Duration.milliseconds(25)
        repeat {
            // On a machine so busy that the call did not begin in time: once more with more time. Either end may be the first to
            // notice that it is over.
            timeout *= 2
            _ = try? await withCallTimeout(timeout) { try await greeter.greet("until cancelled") }
        } while !blocked.object.hasWaited && !Task.isCancelled
        #expect(await blocked.object.events.first { $0 == .saw(cancellation: true) } != nil)
        await blocked.server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `does not keep the server from stopping`(over medium: Medium) async throws {
        let blocked = try await BlockedServer(over: medium)
        let call = await blocked.block(through: blocked.greeter())
        await blocked.server.stop(grace: .zero)
        await #expect(throws: RPCError.self) { try await call.value }
        blocked.object.barrier.open()
    }

    @Test func `is told of in the log, once, when it has blocked for long`() async throws {
        let lines = Lock<[String]>([])
        let blocked = try await BlockedServer { $0.log = { line in lines.withLock { $0.append(line.message) } } }
        let greeter = blocked.greeter()
        func block() async throws {
            let call = await blocked.block(through: greeter)
            // The neighbour goes on for as long as the log minds.
            let begin = ContinuousClock.now
            while ContinuousClock.now - begin < .milliseconds(30) { _ = try await greeter.greet("neighbour") }
            blocked.object.barrier.open()
            _ = try await call.value
        }
        try await until {
            // On a busy machine its thread may be replaced late.
            try await block()
            return lines.withLock { !$0.isEmpty }
        }
        try await block()
        await blocked.server.stop()
        let told = lines.withLock { $0 }
        #expect(told.count == 1)
        #expect(told.first?.hasPrefix("Greeter.greet blocked its thread for ") == true)
        #expect(told.first?.contains("(maximumBlockedThreads)") == true)
    }

    @Test func `keeps its neighbours waiting when as many block as may, and that is counted`() async throws {
        let blocked = try await BlockedServer { $0.limits.maximumBlockedThreads = 1 }
        let first = await blocked.block("block 1", through: blocked.greeter())
        let second = await blocked.block("block 2", through: blocked.greeter())
        #expect(await blocked.log.first { $0.contains("(maximumBlockedThreads)") } != nil)
        #expect(blocked.server.counters.overruns["maximumBlockedThreads"] == 1)
        #expect(blocked.server.counters.threadTakeovers == 1)
        blocked.object.barrier.open(for: 2)
        #expect(try await first.value == "Hello, block 1!")
        #expect(try await second.value == "Hello, block 2!")
        #expect(try await blocked.greeter().greet("you") == "Hello, you!")
        await blocked.server.stop()
    }

    @Test func `is waited for where no thread may be replaced`() async throws {
        let blocked = try await BlockedServer { $0.limits.maximumBlockedThreads = 0 }
        let greeter = blocked.greeter()
        let call = await blocked.block(through: greeter)
        async let neighbour = greeter.greet("neighbour")
        blocked.object.barrier.open()
        #expect(try await call.value == "Hello, block!")
        #expect(try await neighbour == "Hello, neighbour!")
        #expect(blocked.server.counters.threadTakeovers == 0)
        await blocked.server.stop()
    }

    @Test func `leaves posts in their order`() async throws {
        let barrier = Barrier()
        let object = BlockingNotebook(barrier)
        let server = RPCServer()
        server.export(CounterProxy(object))
        let url = try await server.listen(on: "tcp://127.0.0.1:0")
        let notebook = CounterProxy(RPCClient(url, .patient))
        for number in 0..<20 { notebook.note("block \(number)") }
        // Sent behind the posts, so it is answered when they have run.
        async let notes = notebook.notes()
        for number in 0..<20 {
            // Answered beside the post that blocks, since it is of another connection.
            let other = CounterProxy(RPCClient(url, .patient))
            try await until { try await other.value() > number }
            barrier.open()
        }
        #expect(try await notes == (0..<20).map { "block \($0)" })
        await server.stop()
    }
}

/// Writes nothing down before it may.
private final class BlockingNotebook: Counter {
    private let barrier: Barrier
    private let begun = Lock(0)
    private let book = Lock<[String]>([])

    init(_ barrier: Barrier) { self.barrier = barrier }

    var taken: [String] { book.withLock { $0 } }

    func note(_ text: String) {
        begun.withLock { $0 += 1 }
        barrier.wait()
        book.withLock { $0.append(text) }
    }

    /// How many notes have begun to be taken.
    func value() async throws -> Int { begun.withLock { $0 } }
    func increment(by amount: Int) async throws -> Int { amount }
    func next() async throws -> Int { 0 }
    func notes() async throws -> [String] { taken }
}
