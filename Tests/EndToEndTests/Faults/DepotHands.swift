// Those who hand objects around in the fault runs, and the server with which they do.

import Faults
import RPCServer
import RemoteProxy
import TestSupport

/// A depot behind a server of this process.
struct DepotHouse {
    let server: RPCServer
    let url: Endpoint

    init(_ depot: CountingDepot, _ change: (inout RPCServer.Configuration) -> Void) async throws {
        var configuration = RPCServer.Configuration.quiet
        change(&configuration)
        server = RPCServer(configuration)
        server.export(DepotProxy(depot))
        url = try await server.listen(on: "tcp://127.0.0.1:0")
    }
}

/// Answers when its session is over, and not before.
final class GatedPiece: Piece {
    private let begun = AsyncStream.makeStream(of: Void.self)
    private let never = AsyncStream.makeStream(of: Void.self)

    func hasBegun() async { for await _ in begun.stream { return } }

    func number() async throws -> Int {
        begun.continuation.yield()
        for await _ in never.stream {}
        return 0
    }

    func number(of other: any Piece) async throws -> Int { 0 }
}

/// One who takes, gives and drops pieces, with the same random choices for the same number.
struct DepotHands {
    private let depot: DepotProxy
    private let theirs: PieceCount
    private let own: PieceCount
    private let history: ObjectHistory
    private var random: SeededGenerator
    private var held: [(piece: any Piece, number: Int)] = []
    private var next: Int

    init(_ worker: Int, _ depot: DepotProxy, _ theirs: PieceCount, _ own: PieceCount, _ history: ObjectHistory) {
        (self.depot, self.theirs, self.own, self.history) = (depot, theirs, own, history)
        random = SeededGenerator(seed: UInt64(worker))
        next = worker * 1_000_000
    }

    mutating func turn() async throws {
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
            for piece in try await depot.handOut(3) {
                let number = try await piece.number()
                history.note(.held(theirs.name(number), inSession: 0))
                held.append((piece, number))
            }
        case 3:
            guard try await depot.numbers(held.map(\.piece)) == held.map(\.number) else {
                throw FaultToolError("a piece came back as another")
            }
        case 4: try await depot.keep(made(2))
        case 5:
            let given = made(1) + held.prefix(2).map(\.piece)
            let back = try await depot.echo(given)
            guard back.count == given.count, back[0] as AnyObject === given[0] as AnyObject,
                zip(given, back).dropFirst().allSatisfy({ PieceProxy($0).isIdentical(to: $1) })
            else { throw FaultToolError("an echo is another piece") }
        case 6: if Bool.random(using: &random) { try await depot.drop() } else { depot.note(made(1)) }
        default: letGo()
        }
    }

    private mutating func made(_ count: Int) -> [any Piece] {
        defer { next += count }
        return (next..<next + count).map { NumberedPiece($0, own) }
    }

    mutating func letGo() {
        history.note(held.map { .letGo(theirs.name($0.number), inSession: 0) })
        held = []
    }
}
