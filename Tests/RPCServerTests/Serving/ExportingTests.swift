// What a server makes callable, and what its subjects see and let be seen.

import Protocols
import RPCServer
import RemoteProxy
import Subjects
import Synchronization
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Exporting` {
    /// A server and a client of it.
    private func pair(
        over medium: Medium, _ configuration: RPCServer.Configuration = .init()
    ) async throws -> (server: RPCServer, client: RPCClient) {
        let server = RPCServer(configuration)
        return (server, RPCClient(try await server.reached(over: medium), .patient))
    }

    @Test(arguments: Medium.allCases)
    func `several objects of one service are told apart by name`(over medium: Medium) async throws {
        let (server, client) = try await pair(over: medium)
        for name in ["anna", "bert", "with ] and \"quotes\""] {
            server.export(GreeterProxy(ScriptedGreeter { "\(name) greets \($0)" }), named: name)
        }
        #expect(try await GreeterProxy(client, named: "anna").greet("you") == "anna greets you")
        #expect(try await GreeterProxy(client, named: "bert").greet("you") == "bert greets you")
        let odd = GreeterProxy(client, named: "with ] and \"quotes\"")
        #expect(try await odd.greet("you") == "with ] and \"quotes\" greets you")
        let there = "Greeter[anna], Greeter[bert], Greeter[with ] and \"quotes\"]"
        for missing in ["carl", nil] {
            let error = await #expect(throws: RPCError.self) {
                try await GreeterProxy(client, named: missing).greet("you")
            }
            #expect(error?.code == .noSuchObject)
            #expect(error?.outcome == .notExecuted)
            let object = missing.map { "Greeter[\($0)]" } ?? "Greeter"
            #expect(
                error?.message
                    == "there is no object \(object); the server has not exported it (server.export(…)); exported: \(there)"
            )
        }
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `exporting again replaces, for those already connected as well`(over medium: Medium) async throws {
        let (server, client) = try await pair(over: medium)
        let greeter = GreeterProxy(client)
        server.export(GreeterProxy(ScriptedGreeter { _ in "old" }))
        #expect(try await greeter.greet("you") == "old")
        server.export(GreeterProxy(ScriptedGreeter { _ in "new" }))
        #expect(try await greeter.greet("you") == "new")
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `a proxy for another server is exported like any object`(over medium: Medium) async throws {
        let (back, upstream) = try await pair(over: medium)
        back.export(CalculatorProxy(CheckedCalculator()))
        let (front, client) = try await pair(over: medium)
        front.export(CalculatorProxy(upstream))
        let calculator = CalculatorProxy(client)
        #expect(try await calculator.add(20, 22) == 42)
        await #expect(throws: ArithmeticFailure.divisionByZero) { try await calculator.divide(1, by: 0) }
        await front.stop()
        await back.stop()
    }

    @Test(arguments: Medium.allCases)
    func `posts of one connection arrive in their order`(over medium: Medium) async throws {
        let (server, client) = try await pair(over: medium)
        server.export(CounterProxy(SharedCounter()))
        let counter = CounterProxy(client)
        let lines = (0..<500).map { "line \($0)" }
        for line in lines { counter.note(line) }
        #expect(try await counter.notes() == lines)
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `a subject knows its caller, the same for all calls of a client`(over medium: Medium) async throws {
        let (server, client) = try await pair(over: medium)
        server.export(
            GreeterProxy(
                ScriptedGreeter { _ in
                    await Task.yield()
                    return Caller.current.map { "\($0.address) \($0.id)" } ?? "nobody"
                }))
        let first = try await GreeterProxy(client).greet("1")
        #expect(first.hasPrefix(medium.addressOfClients))
        #expect(first.split(separator: " ").last?.count == 8)
        #expect(try await GreeterProxy(client).greet("2") == first)
        let other = RPCClient(try await server.reached(over: medium), .patient)
        let stranger = try await GreeterProxy(other).greet("3")
        #expect(stranger.split(separator: " ").last != first.split(separator: " ").last)
        #expect(Caller.current == nil)
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `a subject calls its caller back while it is being called`(over medium: Medium) async throws {
        let (server, client) = try await pair(over: medium)
        server.export(
            GreeterProxy(
                ScriptedGreeter { name in
                    guard let caller = Caller.current else { return "nobody" }
                    return "\(try await CalculatorProxy(caller).add(40, 2)) for \(name)"
                }))
        client.export(CalculatorProxy(CheckedCalculator()))
        #expect(try await GreeterProxy(client).greet("you") == "42 for you")
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `calls back have the time that the server's configuration gives them`(over medium: Medium) async throws {
        var configuration = RPCServer.Configuration()
        configuration.timeout = .milliseconds(30)
        let (server, client) = try await pair(over: medium, configuration)
        server.export(
            GreeterProxy(
                ScriptedGreeter { _ in
                    guard let caller = Caller.current else { return "nobody" }
                    let error = await #expect(throws: RPCError.self) { try await GreeterProxy(caller).greet("late") }
                    return "\(error?.code == .deadlineExceeded)"
                }))
        client.export(
            GreeterProxy(
                ScriptedGreeter { _ in
                    // Until it is cancelled.
                    try await Task.sleep(for: .seconds(3_600))
                    return "never"
                }))
        #expect(try await GreeterProxy(client).greet("you") == "true")
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `an export ends with its caller, and a later one of the same name does not`(over medium: Medium) async throws {
        let (server, client) = try await pair(over: medium)
        server.export(
            GreeterProxy(
                ScriptedGreeter { name in
                    guard let caller = Caller.current else { return "nobody" }
                    server.export(GreeterProxy(caller), named: name, endingWith: caller)
                    return "welcome"
                }))
        var devices: [RPCClient] = []
        for number in 0..<2 {
            let device = RPCClient(try await server.reached(over: medium), .patient)
            device.export(GreeterProxy(ScriptedGreeter { "\(number): \($0)" }))
            #expect(try await GreeterProxy(device).greet("lamp") == "welcome")
            devices.append(device)
        }
        let lamp = GreeterProxy(client, named: "lamp")
        await devices[0].close(grace: .seconds(2))
        #expect(try await lamp.greet("you") == "1: you")
        await devices[1].close(grace: .seconds(2))
        await until { (try? await lamp.greet("you")) == nil }
        let error = await #expect(throws: RPCError.self) { try await lamp.greet("you") }
        #expect(error?.code == .noSuchObject && error?.outcome == .notExecuted)
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `declared errors arrive as themselves`(over medium: Medium) async throws {
        let (server, client) = try await pair(over: medium)
        server.export(CalculatorProxy(CheckedCalculator()))
        let calculator = CalculatorProxy(client)
        await #expect(throws: ArithmeticFailure.divisionByZero) { try await calculator.divide(1, by: 0) }
        await #expect(throws: ArithmeticFailure.overflow) { try await calculator.add(.max, 1) }
        await #expect(throws: ArithmeticFailure.overflow) { try await calculator.divide(.min, by: -1) }
        await server.stop()
    }

    /// Row C25 of "What became of my call".
    @Test(arguments: Medium.allCases)
    func `an undeclared error stays at the server, and a number ties its log to the answer`(over medium: Medium)
        async throws
    {
        struct Failure: Error { let path = "/etc/private", password = "hunter2" }
        let log = LogLines()
        var configuration = RPCServer.Configuration()
        configuration.log = log.write
        let (server, client) = try await pair(over: medium, configuration)
        server.export(GreeterProxy(ScriptedGreeter { _ in throw Failure() }))
        let error = try #require(await #expect(throws: RPCError.self) { try await GreeterProxy(client).greet("you") })
        #expect(error.code == .subjectFailed)
        #expect(error.outcome == .executed)
        #expect(error.data == nil)
        let text = "Greeter.greet failed; its log has the details under the failure ID "
        #expect(error.message.hasPrefix(text))
        #expect(!error.message.contains("private") && !error.message.contains("hunter2"))
        let reference = error.message.dropFirst(text.count)
        let line = try #require(await log.first { $0.contains("undeclared") })
        #expect(line.contains("failure ID \(reference):") && line.contains("/etc/private") && line.contains("hunter2"))
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `the cause of an RPCError stays at the server, in its log`(over medium: Medium) async throws {
        struct Failure: Error { let path = "/etc/private" }
        let log = LogLines()
        var configuration = RPCServer.Configuration()
        configuration.log = log.write
        let (server, client) = try await pair(over: medium, configuration)
        server.export(GreeterProxy.lazy { throw Failure() })
        let error = try #require(await #expect(throws: RPCError.self) { try await GreeterProxy(client).greet("you") })
        #expect(error.code == .unavailable)
        #expect(error.outcome == .notExecuted)
        #expect(!"\(error)".contains("private"))
        let line = try #require(await log.first { $0.contains("because of") })
        #expect(line.contains("/etc/private"))
        await server.stop()
    }

    @Test(arguments: Medium.allCases)
    func `an RPCError that a subject throws arrives with its code, text and data`(over medium: Medium) async throws {
        let (server, client) = try await pair(over: medium)
        server.export(
            GreeterProxy(
                ScriptedGreeter { _ in
                    throw RPCError(.init(rawValue: 402), "pay first", outcome: .executed, data: "{\n\"price\": 3}")
                }))
        let error = await #expect(throws: RPCError.self) { try await GreeterProxy(client).greet("you") }
        #expect(error?.code.rawValue == 402)
        #expect(error?.message == "pay first")
        #expect(error?.data?.contains("\"price\": 3") == true)
        await server.stop()
    }
}
