// The sample services over real sockets, as a user of the library calls them.

import Foundation
import Protocols
import RPCServer
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Calling over sockets` {
    static let addresses = [
        "tcp://127.0.0.1:0", "tcp://localhost:0",
        "unix://\(NSTemporaryDirectory())rpc-\(UUID().uuidString.prefix(8)).sock",
    ]

    @Test(arguments: addresses)
    func `every sample service answers at every kind of address`(_ address: String) async throws {
        try await withServer(Endpoint(address)) { url in
            let client = RPCClient(url, .patient)
            try #require(await CalculatorProxy(client).add(40, 2) == 42)
            try #require(await GreeterProxy(client).greet("wörld \u{1F30D}") == "Hello, wörld \u{1F30D}!")
            let record = Record(
                id: .max, name: "n\"\\\n", email: "a@b.c", tags: ["x", ""],
                scores: [0.1, -1e300, .leastNonzeroMagnitude], active: true)
            try #require(await EchoProxy(client).record(record) == record)
            let counter = CounterProxy(client)
            counter.note("first")
            counter.note("second")
            try #require(await counter.next() == 1)
            try #require(await counter.increment(by: 5) == 6)
            try await until { try await counter.notes().count == 2 }
            try #require(await counter.notes() == ["first", "second"])
        }
    }

    @Test(arguments: Medium.withTLS)
    func `a declared error is caught as the type the subject threw`(over medium: Medium) async throws {
        try await withServer(over: medium) { url in
            let calculator = CalculatorProxy(RPCClient(url, .patient))
            do {
                _ = try await calculator.divide(1, by: 0)
                Issue.record("division by zero gave a result")
            } catch let error as ArithmeticFailure {
                #expect(error == .divisionByZero)
            }
            await #expect(throws: ArithmeticFailure.overflow) { try await calculator.add(.max, 1) }
        }
    }

    @Test(arguments: [RPCClient.Configuration.Framing.lengthPrefixed, .lines, .headers], Medium.withTLS)
    func `a client speaks the framing it is told to`(_ framing: RPCClient.Configuration.Framing, over medium: Medium)
        async throws
    {
        try await withServer(over: medium) { url in
            var configuration = RPCClient.Configuration.patient
            configuration.peer = .jsonRPC(framing)
            let echo = EchoProxy(RPCClient(url, configuration))
            let text = String(repeating: "line\n\u{0}\u{7F}é\u{1F600}", count: 20_000)
            try #require(await echo.text(text) == text)
            try #require(await echo.text("") == "")
        }
    }

    @Test(arguments: Medium.withTLS)
    func `64 tasks share one client and each gets its own answers`(over medium: Medium) async throws {
        try await withServer(over: medium) { url in
            let calculator = CalculatorProxy(RPCClient(url, .patient))
            try await withThrowingTaskGroup { group in
                for caller in 0..<64 {
                    group.addTask {
                        for call in 0..<50 { try #require(await calculator.add(caller, call) == caller + call) }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(arguments: Medium.withTLS)
    func `slow calls do not hold up fast ones`(over medium: Medium) async throws {
        try await withServer(over: medium) { url in
            let client = RPCClient(url, .patient)
            let slow = Task { try await EchoProxy(client).later("slow", afterMilliseconds: 60_000) }
            for _ in 0..<20 { try #require(await CalculatorProxy(client).add(1, 1) == 2) }
            slow.cancel()
            await #expect(throws: CancellationError.self) { try await slow.value }
        }
    }

    /// Row C12 of "What became of my call".
    @Test(arguments: Medium.withTLS)
    func `who is cancelled learns of it although others leave its loop no rest`(over medium: Medium) async throws {
        try await withServer(over: medium) { url in
            let client = RPCClient(url, .patient)
            let calculator = CalculatorProxy(client)
            let others = (0..<16).map { _ in
                Task(executorPreference: client.executor) {
                    while !Task.isCancelled { try #require(await calculator.add(1, 1) == 2) }
                }
            }
            for _ in 0..<10 {
                let slow = Task(executorPreference: client.executor) {
                    try await EchoProxy(client).later("slow", afterMilliseconds: 3_600_000)
                }
                try #require(await calculator.add(1, 1) == 2)
                slow.cancel()
                await #expect(throws: CancellationError.self) { try await slow.value }
            }
            for other in others { other.cancel() }
            for other in others { _ = await other.result }
        }
    }

    @Test(arguments: Medium.withTLS)
    func `the shorter of two timeouts holds`(over medium: Medium) async throws {
        try await withServer(over: medium) { url in
            let echo = EchoProxy(RPCClient(url, .patient))
            // Connected first: a deadline that ends before the call has left is another error.
            try #require(await echo.text("hello") == "hello")
            let error = await #expect(throws: RPCError.self) {
                // Hours away, all but one: to come back at all is to come back in time.
                try await withCallTimeout(.seconds(7_200)) {
                    try await withCallTimeout(.milliseconds(30)) {
                        try await echo.later("x", afterMilliseconds: 3_600_000)
                    }
                }
            }
            #expect(error?.code == .deadlineExceeded)
        }
    }

    @Test func `an address that makes no sense is said so by every call`() async {
        let greeter = GreeterProxy(RPCClient("htp:/nowhere"))
        let error = await #expect(throws: RPCError.self) { try await greeter.greet("x") }
        #expect(error?.code == .invalidAddress)
        #expect(error?.outcome == .notExecuted)
        #expect(error?.message.contains("htp:/nowhere") == true)
    }
}
