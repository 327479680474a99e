// The code of the article on many devices, and of the one on deploying.

import RPCServer
import RPCSockets
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers, .hasTime) struct `Many devices of one protocol` {
    private func hub() -> (server: RPCServer, board: Board) {
        var configuration = RPCServer.Configuration.quiet
        configuration.timeout = .seconds(5)
        configuration.waitsForConnection = false
        let (server, board) = (RPCServer(configuration), Board())
        server.export(HomeProxy(Hub(server: server, board: board)))
        return (server, board)
    }

    /// A device with its program, which runs until the client is closed.
    private func device(_ lamp: Bulb, at url: Endpoint) -> RPCClient {
        let client = RPCClient(url, .patient)
        Task {
            client.export(LampProxy(lamp))
            try? await client.connect()
            for await case .connected(resumed: false) in client.states {
                try? await HomeProxy(client).join(as: "kitchen")
            }
        }
        return client
    }

    @Test func `a lamp that is started again takes its place, and its former session takes nothing away`() async throws
    {
        let (server, board) = hub()
        let url = try await server.listen(on: "tcp://127.0.0.1:0")
        let visitor = RPCClient(url, .patient)
        let (first, second) = (Bulb(), Bulb())
        let former = device(first, at: url)
        await until { await board.state(of: "kitchen") == .connected(resumed: false) }
        try await LampProxy(visitor, named: "kitchen").turn(on: true)
        #expect(first.isLit.withLock { $0 })
        let later = device(second, at: url)
        await until { (try? await LampProxy(visitor, named: "kitchen").isOn()) == false }
        await former.close(grace: .seconds(2))
        try await LampProxy(visitor, named: "kitchen").turn(on: true)
        #expect(second.isLit.withLock { $0 })
        #expect(await board.state(of: "kitchen") == .connected(resumed: false))
        await later.close(grace: .seconds(2))
        await until { await board.state(of: "kitchen") == .gone }
        await until { (try? await LampProxy(visitor, named: "kitchen").isOn()) == nil }
        #expect(try await postponed(by: visitor) == ["kitchen"])
        await server.stop()
    }

    private func postponed(by visitor: RPCClient) async throws -> [String] {
        var later: [String] = []
        do {
            try await LampProxy(visitor, named: "kitchen").turn(on: true)
        } catch let error as RPCError where error.outcome == .notExecuted {
            later.append("kitchen")
        }
        return later
    }

    @Test func `an object says of its own work that nothing was done`() async throws {
        let error = await #expect(throws: RPCError.self) {
            try await LampProxy(Switch(lamp: LampProxy(Dark()))).turn(on: true)
        }
        #expect(error?.outcome == .notExecuted)
    }

    @Test func `a hub is tested without a connection`() async throws {
        let (server, board) = hub()
        let hub = Hub(server: server, board: board)
        let fake = Bulb()
        try await withCaller(nil, exports: LampProxy(fake)) { try await hub.join(as: "kitchen") }
        await until { await board.state(of: "kitchen") == .gone }
    }
}

@Suite struct `The article on deploying` {
    @Test func `a program has options of its own`() {
        _ = {
            ServerCommand(
                options: [.option("--owner", "NAME", help: "whose journal this is")],
                configure: { $0.limits.maximumWait = .seconds(1) }
            ) { context in
                context.server.export(JournalProxy(PaperJournal()), named: context.options["--owner"])
            }.main()
        }
    }
}

@Service
protocol Lamp: Sendable {
    @Idempotent func turn(on: Bool) async throws
    @ReadOnly func isOn() async throws -> Bool
}

@Service
protocol Home: Sendable {
    func join(as name: String) async throws
}

struct Hub: Home {
    weak let server: RPCServer?
    let board: Board

    func join(as name: String) async throws {
        guard let server, let caller = Caller.current else { return }
        let registration = server.export(LampProxy(caller), named: name, endingWith: caller)
        if let why = registration.refusal { throw RPCError(.invalidArguments, why, outcome: .notExecuted) }
        Task { await board.add(name, caller) }
    }
}

actor Board {
    private var lamps: [String: (caller: Caller.ID, state: Caller.State)] = [:]

    func add(_ name: String, _ caller: Caller) async {
        lamps[name] = (caller.id, .connected(resumed: false))
        // Another caller may have the name by now.
        for await state in caller.states where lamps[name]?.caller == caller.id { lamps[name]?.state = state }
    }

    func state(of name: String) -> Caller.State? { lamps[name]?.state }
}

private final class Bulb: Lamp {
    let isLit = Lock(false)

    func turn(on: Bool) async throws { isLit.withLock { $0 = on } }
    func isOn() async throws -> Bool { isLit.withLock { $0 } }
}

/// Cannot be reached.
private struct Dark: Lamp {
    func turn(on: Bool) async throws { throw RPCError(.unavailable, "no power", outcome: .notExecuted) }
    func isOn() async throws -> Bool { false }
}

private struct Switch: Lamp {
    let lamp: any Lamp

    func turn(on: Bool) async throws {
        do {
            try await lamp.turn(on: true)
        } catch var error as RPCError where error.outcome == .notExecuted {
            error.outcome = .notExecuted
            throw error
        }
    }
    func isOn() async throws -> Bool { try await lamp.isOn() }
}
