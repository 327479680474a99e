// The code of the article on writing a service, and of the one on the wire.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers, .hasTime) struct `Writing a service` {
    @Test func `a listed error is caught as itself`() async throws {
        try await withServer(exporting: [CalculatorProxy(CheckedCalculator())]) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            let calculator: any Calculator = CalculatorProxy(client)
            var reports = 0
            func report() { reports += 1 }
            do { _ = try await calculator.divide(1, by: 0) } catch ArithmeticFailure.divisionByZero { report() }
            #expect(reports == 1)
        }
    }

    @Test func `each shape of a requirement is served`() async throws {
        try await withServer(exporting: [ShapesProxy(Shape())]) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            let shapes: any Shapes = ShapesProxy(client)
            try await shapes.reset()
            let version = try await shapes.version
            #expect(version == "1")
        }
    }

    @Test func `a post is a method of an actor or of the main actor`() async throws {
        for object in [PaperJournal(), JournalModel()] as [any Journal] {
            try await withServer(exporting: [JournalProxy(object)]) { url in
                let client = RPCClient(url, .patient)
                defer { client.close() }
                let journal = JournalProxy(client)
                for line in ["one", "two"] { await journal.note(line) }
                let lines = try await journal.lines()
                #expect(lines == ["one", "two"])
            }
        }
    }

    @Test func `a service refines another`() async throws {
        try await withServer(exporting: [SelectingProxy(Lines())]) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            let line = SelectingProxy.MethodName.inherited(ScrollingProxy.MethodName.line)
            let cache = Cache.memory
            let selecting = SelectingProxy(client).cached(in: cache, methods: [line])
            let updates = try cache.updates(of: ScrollingProxy.Methods.line)
            await selecting.scrolled(to: 7)
            let (row, top) = try await (selecting.selected(2), selecting.line)
            #expect((row, top) == ("row 2", 7))
            #expect(await updates.first { _ in true }?.value == 7)
        }
    }

    @Test func `an object is exported under a name and taken back`() async throws {
        let server = RPCServer()
        let registration = server.export(CounterProxy(SharedCounter()), named: "visits")
        let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"), .patient)
        let visits = CounterProxy(client, named: "visits")
        #expect(try await visits.next() == 1)
        registration.cancel()
        let error = await #expect(throws: RPCError.self) { try await visits.next() }
        #expect(error?.code == .noSuchObject)
        client.close()
        await server.stop()
    }

    @Test func `a service is tested without a connection`() async throws {
        struct Box: Ledger {
            func balance() async throws -> Int { 7 }
            func audit() async throws {}
            func note(_ text: String) {}
        }
        let box = Box()
        let ann = Identity(name: "ann", roles: ["teller"])
        let ledger = LedgerProxy(box).guarded(by: .readOnly.or(.role("teller")))
        try await withCaller(ann) { try await ledger.audit() }
        await #expect(throws: RPCError.self) { try await withCaller(nil) { try await ledger.audit() } }

        let policy = AccessPolicy.readOnly.or(.role("teller"))
        let request = AccessRequest(LedgerProxy.Methods.audit)
        let verdict = try await withCaller(ann) { try await policy.verdict(on: request) }
        #expect(verdict == .allow)
    }

    @Test func `an object calls its caller back`() async throws {
        try await withServer(exporting: [WorkProxy(Worker())]) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            let progressBar = ProgressBar()
            client.export(ProgressProxy(progressBar))
            try await WorkProxy(client).work()
            await until { progressBar.part.withLock { $0 } == 0.5 }
        }
    }
}

@Suite(.waitsForOthers, .hasTime) struct `The wire` {
    @Test func `a client without a hello calls any server`() async throws {
        _ = {
            var configuration = RPCClient.Configuration()
            configuration.peer = .jsonRPC(.lines)
            let calculator: any Calculator = CalculatorProxy(RPCClient("tcp://127.0.0.1:7070", configuration))
            return calculator
        }
        try await withServer(exporting: [CalculatorProxy(CheckedCalculator())]) { url in
            var configuration = RPCClient.Configuration.patient
            configuration.peer = .jsonRPC(.lines)
            let client = RPCClient(url, configuration)
            defer { client.close() }
            let sum = try await CalculatorProxy(client).add(2, 3)
            #expect(sum == 5)
        }
    }
}

@Service
protocol Shapes: Sendable {
    func reset() async throws
    var version: String { get async throws }
}

@Service
protocol Journal: Sendable {
    func note(_ line: String) async
    @ReadOnly func lines() async throws -> [String]
}

actor PaperJournal: Journal {
    private var noted: [String] = []

    func note(_ line: String) { noted.append(line) }
    func lines() -> [String] { noted }
}

@MainActor
final class JournalModel: Journal {
    private(set) var noted: [String] = []

    func note(_ line: String) { noted.append(line) }
    func lines() -> [String] { noted }
}

@Service
protocol Scrolling: Sendable {
    func scrolled(to line: Int) async
    @ReadOnly var line: Int { get async throws }
}

@Service
protocol Selecting: Scrolling {
    func selected(_ row: Int) async throws -> String
}

private actor Lines: Selecting {
    private(set) var line = 0

    func scrolled(to line: Int) { self.line = line }
    func selected(_ row: Int) -> String { "row \(row)" }
}

private struct Shape: Shapes {
    func reset() async throws {}
    var version: String { get async throws { "1" } }
}

@Service
protocol Work: Sendable {
    func work() async throws
}

private struct Worker: Work {
    func work() async throws {
        if let caller = Caller.current { ProgressProxy(caller).reached(0.5) }
    }
}

@Service
protocol Progress: Sendable {
    func reached(_ part: Double)
}

private final class ProgressBar: Progress {
    let part = Lock(0.0)
    func reached(_ part: Double) { self.part.withLock { $0 = part } }
}
