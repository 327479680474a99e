// Both ends are peers: servers that call their clients, and servers that are clients of others.

import Protocols
import RPCServer
import RemoteProxy
import Subjects
import Synchronization
import TestSupport
import Testing

/// Asks whoever calls for a greeting and passes it on.
private struct AskingGreeter: Greeter {
    func greet(_ name: String) async throws -> String {
        guard let caller = Caller.current else { return "nobody called" }
        return "\(caller.address) says: \(try await GreeterProxy(caller).greet(name))"
    }
}

/// Passes everything on to another.
private struct Relay: Echo {
    let next: any Echo

    func text(_ text: String) async throws -> String { try await next.text(text) }
    func record(_ record: Record) async throws -> Record { try await next.record(record) }
    func later(_ text: String, afterMilliseconds: Int) async throws -> String {
        try await next.later(text, afterMilliseconds: afterMilliseconds)
    }
}

/// Waits until it is told to stop, and tells that it was.
private final class Watched: Echo {
    let begun = Atomic(0)
    let hasBegun = AsyncStream.makeStream(of: Void.self)
    let wasCancelled = AsyncStream.makeStream(of: Void.self)

    func text(_ text: String) async throws -> String { text }
    func record(_ record: Record) async throws -> Record { record }
    func later(_ text: String, afterMilliseconds: Int) async throws -> String {
        begun.add(1, ordering: .releasing)
        hasBegun.continuation.yield()
        let nothing = AsyncStream.makeStream(of: Void.self)
        for await _ in nothing.stream {}
        wasCancelled.continuation.yield()
        throw CancellationError()
    }
}

/// A subject whose work is done on actors: its own, and the main one.
private struct ActorGreeter: Greeter {
    private actor Names {
        private var count = 0
        func next(_ name: String) -> String {
            count += 1
            return "\(name) \(count)"
        }
    }

    private let names = Names()

    func greet(_ name: String) async throws -> String {
        let named = await names.next(name)
        return await MainActor.run { "Hello, \(named)!" }
    }
}

@Suite(.waitsForOthers) struct `Peers` {
    @Test(arguments: Medium.withTLS)
    func `a subject may do its work on actors`(over medium: Medium) async throws {
        try await withServer(over: medium, exporting: [GreeterProxy(ActorGreeter())]) { url in
            let greeter = GreeterProxy(RPCClient(url, .patient))
            let greetings = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 { group.addTask { try await greeter.greet("you") } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(greetings == Set((1...100).map { "Hello, you \($0)!" }))
        }
    }

    @Test(arguments: Medium.withTLS)
    func `a subject calls back to an object of its caller`(over medium: Medium) async throws {
        try await withServer(over: medium, exporting: [GreeterProxy(AskingGreeter())]) { url in
            let client = RPCClient(url, .patient)
            client.export(GreeterProxy(EnglishGreeter()))
            let greeting = try await GreeterProxy(client).greet("you")
            #expect(greeting.hasPrefix(medium.addressOfClients) && greeting.hasSuffix(" says: Hello, you!"))
        }
    }

    @Test(arguments: Medium.withTLS)
    func `a gateway is one line, and errors pass through it as themselves`(over medium: Medium) async throws {
        try await withServer(over: medium) { upstream in
            try await withServer(over: medium, exporting: [CalculatorProxy(RPCClient(upstream, .patient))]) { url in
                let calculator = CalculatorProxy(RPCClient(url, .patient))
                try #require(await calculator.add(20, 22) == 42)
                await #expect(throws: ArithmeticFailure.divisionByZero) { try await calculator.divide(1, by: 0) }
            }
        }
    }

    @Test(arguments: Medium.withTLS)
    func `cancelling the first caller stops the last subject, two servers away`(over medium: Medium) async throws {
        let watched = Watched()
        try await withServer(over: medium, exporting: [EchoProxy(watched)]) { upstream in
            let relay = Relay(next: EchoProxy(RPCClient(upstream, .patient)))
            try await withServer(over: medium, exporting: [EchoProxy(relay)]) { url in
                let call = Task { try await EchoProxy(RPCClient(url, .patient)).later("x", afterMilliseconds: 60_000) }
                var begins = watched.hasBegun.stream.makeAsyncIterator()
                #expect(await begins.next() != nil)
                call.cancel()
                await #expect(throws: CancellationError.self) { try await call.value }
                var stops = watched.wasCancelled.stream.makeAsyncIterator()
                #expect(await stops.next() != nil)
            }
        }
    }

    @Test(arguments: Medium.withTLS)
    func `a deadline reaches the last subject, two servers away`(over medium: Medium) async throws {
        let watched = Watched()
        try await withServer(over: medium, exporting: [EchoProxy(watched)]) { upstream in
            let relay = Relay(next: EchoProxy(RPCClient(upstream, .patient)))
            try await withServer(over: medium, exporting: [EchoProxy(relay)]) { url in
                let echo = EchoProxy(RPCClient(url, .patient))
                // Connects both hops first: a deadline that ends before the call has left reaches nobody.
                try #require(await echo.text("hello") == "hello")
                var timeout = Duration.milliseconds(50)
                repeat {
                    // On a machine so busy that the call did not get there in time: once more with more time.
                    timeout *= 2
                    let error = await #expect(throws: RPCError.self) {
                        try await withCallTimeout(timeout) { try await echo.later("x", afterMilliseconds: 86_400_000) }
                    }
                    try #require(error?.code == .deadlineExceeded)
                } while watched.begun.load(ordering: .acquiring) == 0 && !Task.isCancelled
                var stops = watched.wasCancelled.stream.makeAsyncIterator()
                #expect(await stops.next() != nil)
            }
        }
    }

    @Test func `several objects of one service are told apart by name`() async throws {
        let server = RPCServer()
        server.export(CounterProxy(SharedCounter()), named: "apples")
        server.export(CounterProxy(SharedCounter()), named: "pears \"quoted\"")
        let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"), .patient)
        try #require(await CounterProxy(client, named: "apples").increment(by: 3) == 3)
        try #require(await CounterProxy(client, named: "pears \"quoted\"").value() == 0)
        let error = await #expect(throws: RPCError.self) { try await CounterProxy(client).value() }
        #expect(error?.code == .noSuchObject)
        await server.stop(grace: .zero)
    }

    @Test(arguments: Medium.withTLS)
    func `what was posted just before closing arrives`(over medium: Medium) async throws {
        let counter = SharedCounter()
        // Each client starts its child.
        let count = medium == .child ? 10 : 50
        try await withServer(over: medium, exporting: [CounterProxy(counter)]) { url in
            for number in 0..<count {
                let client = RPCClient(url, .patient)
                let proxy = CounterProxy(client)
                _ = try await proxy.value()
                proxy.note("\(number)")
                client.close()
                try await until { try await counter.notes().count > number }
            }
        }
        #expect(try await counter.notes() == (0..<count).map(String.init))
    }

    @Test func `no one can tell a local proxy from the object`() async throws {
        let greeter: any Greeter = GreeterProxy(EnglishGreeter())
        try #require(await greeter.greet("local") == "Hello, local!")
        let counter = SharedCounter()
        let proxy = CounterProxy(counter)
        proxy.note("at once")
        try #require(await counter.notes() == ["at once"])
    }
}
