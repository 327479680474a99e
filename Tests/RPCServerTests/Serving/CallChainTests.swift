// Calls that go back and forth between two ends go on as they would in one process: no request waits for the one that it is part of.

import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Synchronization
import TestSupport
import Testing

/// One of two objects that call each other, one at each end.
@Service
protocol Player: Sendable {
    /// Goes on with a call to the other until `depth` is 0; then returns how many calls there were.
    func play(_ depth: Int, by way: String) async throws -> Int
    /// The same, with no caller that waits for it.
    func serve(_ depth: Int, by way: String) async
    func note(_ text: String)
    /// Returns `text` after what was noted before.
    func read(_ text: String) async throws -> [String]
}

/// Where each player finds the other.
private final class Table: Sendable {
    struct Seats {
        var near: (any Player)?
        var far: (any Player)?
    }

    let seats = Lock(Seats())
    let over = Lock<[String: Int]>([:])
    let errors = Lock<[String]>([])

    /// How the player at one side reaches the other side.
    func other(_ isNear: Bool, by way: String) throws -> any Player {
        let other = seats.withLock { isNear ? $0.far : $0.near }
        // The far side is a server, which finds its caller again in each call.
        guard isNear else {
            guard let caller = Caller.current else { throw RPCError(.unavailable, "no caller", outcome: .notExecuted) }
            return PlayerProxy(caller, named: way)
        }
        return try #require(other)
    }
}

/// What a player of any kind does.
private struct Game: Sendable {
    let table: Table
    let isNear: Bool

    nonisolated(nonsending) func play(_ depth: Int, _ way: String) async throws -> Int {
        guard depth > 0 else { return 0 }
        return try await 1 + table.other(isNear, by: way).play(depth - 1, by: way)
    }

    nonisolated(nonsending) func serve(_ depth: Int, _ way: String) async {
        do {
            let count = try await play(depth, way)
            table.over.withLock { $0[way] = count }
        } catch {
            table.errors.withLock { $0.append("\(error)") }
        }
    }
}

private final class PlainPlayer: Player {
    let game: Game
    private let notes = Lock<[String]>([])
    init(_ game: Game) { self.game = game }
    func play(_ depth: Int, by way: String) async throws -> Int { try await game.play(depth, way) }
    func serve(_ depth: Int, by way: String) async { await game.serve(depth, way) }
    func note(_ text: String) { notes.withLock { $0.append(text) } }
    func read(_ text: String) async throws -> [String] { notes.withLock { $0 + [text] } }
}

private actor ActorPlayer: Player {
    let game: Game
    init(_ game: Game) { self.game = game }
    func play(_ depth: Int, by way: String) async throws -> Int { try await game.play(depth, way) }
    func serve(_ depth: Int, by way: String) async { await game.serve(depth, way) }
    nonisolated func note(_ text: String) {}
    func read(_ text: String) async throws -> [String] { [] }
}

@MainActor private final class MainPlayer: Player {
    let game: Game
    init(_ game: Game) { self.game = game }
    func play(_ depth: Int, by way: String) async throws -> Int { try await game.play(depth, way) }
    func serve(_ depth: Int, by way: String) async { await game.serve(depth, way) }
    nonisolated func note(_ text: String) {}
    func read(_ text: String) async throws -> [String] { [] }
}

/// Two ends with one loop each, and a player of each kind at both.
private struct Hall {
    let table = Table()
    let server: RPCServer
    let client: RPCClient

    init(over medium: Medium) async throws {
        var configuration = RPCServer.Configuration()
        configuration.threads = 1
        server = RPCServer(configuration)
        client = RPCClient(try await server.reached(over: medium), .patient)
        let far = Game(table: table, isNear: false)
        let near = Game(table: table, isNear: true)
        let mains = await (MainPlayer(far), MainPlayer(near))
        let kinds: [(String, any Player, any Player)] = [
            ("plain", PlainPlayer(far), PlainPlayer(near)), ("actor", ActorPlayer(far), ActorPlayer(near)),
            ("main", mains.0, mains.1),
        ]
        for (name, far, near) in kinds {
            server.export(PlayerProxy(far), named: name)
            client.export(PlayerProxy(near), named: name)
            let locked = "locked \(name)"
            server.export(PlayerProxy(far).locked(), named: locked)
            client.export(PlayerProxy(near).locked(), named: locked)
        }
    }

    func far(_ name: String) -> PlayerProxy { PlayerProxy(client, named: name) }

    /// Where the near players find the far one.
    func sit(_ name: String) -> PlayerProxy {
        let far = far(name)
        table.seats.withLock { $0.far = far }
        return far
    }

    func end() async {
        client.close()
        await server.stop()
    }
}

@Suite struct `Calls back and forth` {
    @Test(arguments: ["plain", "actor", "main"], Medium.allCases)
    func `go on a hundred deep, from calls and from posts`(kind: String, over medium: Medium) async throws {
        let hall = try await Hall(over: medium)
        let far = hall.sit(kind)
        #expect(try await far.play(100, by: kind) == 100)
        await far.serve(100, by: kind)
        // Waits for the post before it.
        _ = try await far.read("")
        #expect(hall.table.errors.withLock { $0 } == [] && hall.table.over.withLock { $0[kind] } == 100)
        await hall.end()
    }

    @Test(arguments: Medium.allCases)
    func `meet a lock that they hold as a local call of the same task does`(over medium: Medium) async throws {
        let hall = try await Hall(over: medium)
        for kind in ["plain", "actor", "main"] {
            let name = "locked \(kind)"
            let far = hall.sit(name)
            let began = MonotonicClock.now
            // To the far object, the near one, and back to the far one, which is in use.
            let error = await #expect(throws: RPCError.self) { _ = try await far.play(5, by: name) }
            #expect(error?.code == .busy && began.duration(to: MonotonicClock.now) < .seconds(15))
        }
        await hall.end()
    }

    @Test(arguments: Medium.allCases)
    func `enter a lock that their caller has for itself`(over medium: Medium) async throws {
        let hall = try await Hall(over: medium)
        let near = PlayerProxy(PlainPlayer(Game(table: hall.table, isNear: true))).locked()
        hall.client.export(near, named: "held")
        hall.server.export(PlayerProxy(PlainPlayer(Game(table: hall.table, isNear: false))), named: "held")
        let far = hall.sit("held")
        // The near object is held by the program itself. Its call to the far one comes back to it.
        let count = try await near.exclusively {
            try await withCallTimeout(.seconds(20)) { try await far.play(2, by: "held") }
        }
        #expect(count == 2)
        await hall.end()
    }
}
