// Objects as the protocol spells them: `any Player`, in optionals, arrays and dictionaries, and behind other proxies.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Service
protocol Player: Sendable {
    func name() async throws -> String
    func hit(_ ball: Int, back other: any Player) async throws -> Int
    func cheer(_ word: String)
}

@Service
protocol Team: Sendable {
    func captain() async throws -> any Player
    func substitute() async throws -> (any Player)?
    func players() async throws -> [any Player]
    func positions() async throws -> [String: any Player]
    func join(_ player: any Player, instead other: (any Player)?, with others: [any Player]) async throws -> Int
    func place(_ positions: [String: any Player]) async throws
    func isCaptain(_ player: any Player) async throws -> Bool
    var coach: any Player { get async throws }
    func leave(_ player: any Player)
    @ReadOnly func roster() async throws -> [any Player]
}

private actor Striker: Player {
    let plain: String
    private(set) var cheers: [String] = []

    init(_ plain: String) { self.plain = plain }

    func name() async throws -> String { plain }

    func hit(_ ball: Int, back other: any Player) async throws -> Int {
        ball == 0 ? 0 : try await other.hit(ball - 1, back: self) + 1
    }

    nonisolated func cheer(_ word: String) { Task { await heard(word) } }
    private func heard(_ word: String) { cheers.append(word) }
}

private final class HomeTeam: Team {
    let star = Striker("Ann")
    let joined = Lock<[any Player]>([])
    let placed = Lock<[String: any Player]>([:])

    func captain() async throws -> any Player { star }
    func substitute() async throws -> (any Player)? { nil }
    func players() async throws -> [any Player] { [star, Striker("Bob"), star] }
    func positions() async throws -> [String: any Player] { ["left": star] }

    func join(_ player: any Player, instead other: (any Player)?, with others: [any Player]) async throws -> Int {
        joined.withLock { $0 = [player] + [other].compactMap(\.self) + others }
        return others.count
    }

    func place(_ positions: [String: any Player]) async throws { placed.withLock { $0 = positions } }
    func isCaptain(_ player: any Player) async throws -> Bool { player as AnyObject === star }
    var coach: any Player { get async throws { PlayerProxy(star).guarded(by: .nobody) } }
    func roster() async throws -> [any Player] { [star] }
    func leave(_ player: any Player) { joined.withLock { $0.removeAll { PlayerProxy($0).isIdentical(to: player) } } }
}

@Suite struct `Objects in signatures` {
    private let network = SimulatedNetwork()
    private let home = HomeTeam()
    private let client: RPCClient
    private let team: TeamProxy

    init() {
        network.exports.add(TeamProxy(home), named: nil)
        client = network.client()
        team = TeamProxy(client)
    }

    private func complete<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) throws -> Result {
        try network.loop.complete(body)
    }

    @Test func `are results, alone and in containers`() throws {
        #expect(try complete { try await team.captain().name() } == "Ann")
        #expect(try complete { try await team.substitute() } == nil)
        let players = try complete { try await team.players() }
        #expect(players.count == 3)
        #expect(PlayerProxy(players[0]).isIdentical(to: players[2]))
        #expect(!PlayerProxy(players[0]).isIdentical(to: players[1]))
        #expect(try complete { try await players[1].name() } == "Bob")
        #expect(try complete { try await team.positions()["left"]?.name() } == "Ann")
    }

    @Test func `are arguments, alone and in containers`() throws {
        let (one, other) = (Striker("Cid"), Striker("Dot"))
        #expect(try complete { try await team.join(one, instead: nil, with: [other, one]) } == 2)
        let joined = home.joined.withLock { $0 }
        #expect(try complete { try await joined[1].name() } == "Dot")
        #expect(PlayerProxy(joined[0]).isIdentical(to: joined[2]))
        try complete { try await team.place(["goal": one]) }
        #expect(try complete { try await home.placed.withLock { $0["goal"] }?.name() } == "Cid")
        #expect(try complete { try await team.isCaptain(team.captain()) })
        try complete {
            team.leave(one)
            _ = try await team.captain()
        }
        #expect(home.joined.withLock { $0.count } == 1)
    }

    @Test func `keep the layers around them at their own end`() throws {
        let coach = try complete { try await team.coach }
        let error = #expect(throws: RPCError.self) { try complete { try await coach.name() } }
        #expect(error?.code == .denied)
    }

    @Test func `get layers at the other end like any other object`() throws {
        let captain = try complete { try await team.captain() }
        let seen = Lock<[String]>([])
        let observed = PlayerProxy(captain).observed { call in seen.withLock { $0.append(call.method.name) } }
        #expect(try complete { try await observed.name() } == "Ann")
        #expect(seen.withLock { $0 } == ["name"])
        #expect(observed.isIdentical(to: captain))
        #expect(try complete { try await PlayerProxy(captain).supports(.hit) })
    }

    @Test func `call each other back and forth, a hundred deep`() throws {
        let mine = Striker("Eve")
        #expect(try complete { try await team.captain().hit(100, back: mine) } == 100)
    }

    @Test func `are held weakly if they are passed so`() throws {
        let alive = Census()
        var reader: KeenReader? = KeenReader(alive)
        let shop = CornerBookshop()
        network.exports.add(BookshopProxy(shop), named: nil)
        let bookshop = BookshopProxy(client)
        if let reader {
            let weak = ReaderProxy.weak(reader)
            try complete { try await bookshop.keep(Parcel(for: weak)) }
        }
        reader = nil
        #expect(alive.value == 0)
        let kept = shop.kept.withLock { $0.first?.reader?.object }
        let error = #expect(throws: RPCError.self) { try complete { _ = try await kept?.likes("Emma") } }
        #expect(error?.code == .noSuchObject)
        kept?.opened("Emma")
    }

    @Test func `are one object each time they are passed weakly, as one that is held weakly`() throws {
        let feed = Striker("Hal")
        #expect(PlayerProxy.weak(feed).isIdentical(to: feed))
        try complete {
            _ = try await team.join(PlayerProxy.weak(feed), instead: nil, with: [])
            team.leave(PlayerProxy.weak(feed))
            _ = try await team.captain()
        }
        #expect(home.joined.withLock { $0.isEmpty })
        try complete { _ = try await team.join(feed, instead: nil, with: []) }
        let strong = home.joined.withLock { $0[0] }
        #expect(try complete { try await strong.name() } == "Hal")
    }

    @Test func `of an instance that is gone give their place to the next one`() throws {
        for number in 0..<20 {
            let player = Striker("\(number)")
            try complete { _ = try await team.join(PlayerProxy.weak(player), instead: nil, with: []) }
            let joined = home.joined.withLock { $0[0] }
            #expect(try complete { try await joined.name() } == "\(number)")
        }
    }

    @Test func `say closed once their client is closed`() throws {
        let captain = try complete { try await team.captain() }
        client.close()
        let error = #expect(throws: RPCError.self) { try complete { try await captain.name() } }
        #expect(error?.code == .closed && error?.outcome == .notExecuted)
    }

    @Test func `are not kept by a cache`() throws {
        let cached = team.cached(in: .memory)
        _ = try complete { try await cached.roster() }
        network.restart()
        network.loop.advance(by: .seconds(2))
        #expect(try complete { try await cached.roster()[0].name() } == "Ann")
    }

    @Test func `are the same, or not, whatever is around them`() async throws {
        let (one, other) = (Striker("Fay"), Striker("Gus"))
        #expect(PlayerProxy(one).isIdentical(to: PlayerProxy(one).guarded(by: .readOnly)))
        #expect(!PlayerProxy(one).isIdentical(to: other))
        #expect(PlayerProxy(client).isIdentical(to: PlayerProxy(client)))
        #expect(!PlayerProxy(client).isIdentical(to: PlayerProxy(client, named: "left")))
    }
}
