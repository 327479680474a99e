// The tables of the article "Changing a service". Each row is tried in both directions, between the two versions of a service that
// `OldVersion` and `NewVersion` have.

import RPCServer
import RemoteProxy
import TestSupport
import Testing

@Suite(.waitsForOthers, .hasTime) struct `Changing a service` {
    private static let rows = ArticleTable.rows(
        of: "ChangingAService", under: "| Change | Old client, new server | New client, old server |")

    @Test func `each change of the article is tried, and no other`() {
        let changes = Self.rows.map { $0[0] }
        #expect(Set(changes) == Set(OldVersion.calls.keys))
        #expect(Set(changes) == Set(NewVersion.calls.keys))
        #expect(changes.count == Set(changes).count)
    }

    @Test(arguments: rows)
    func `each change ends as the article says`(_ row: [String]) async throws {
        let new = try await end(of: OldVersion.calls[row[0]], on: NewVersion.proxies())
        #expect(row[1].hasPrefix(new), "the old client and the new server")
        let old = try await end(of: NewVersion.calls[row[0]], on: OldVersion.proxies())
        #expect(row[2].hasPrefix(old), "the new client and the old server")
    }

    /// Row C21 of "What became of my call".
    @Test func `a value for which the old type has no place is refused`() async throws {
        for call in NewVersion.refused {
            #expect(try await end(of: call, on: OldVersion.proxies()) == "`.invalidArguments`, not executed")
            #expect(try await end(of: call, on: NewVersion.proxies()) == "works")
        }
    }

    @Test func `the client of a version asks first`() async throws {
        #expect(
            try await withServer(exporting: NewVersion.proxies()) { try await NewVersion.reserved(at: $0) }
                == "reserved")
        #expect(
            try await withServer(exporting: OldVersion.proxies()) { try await NewVersion.reserved(at: $0) } == "noted")
    }

    @Test func `an object is exported as two versions of a service`() async throws {
        let server = RPCServer(.quiet)
        let till = DrawerTill()
        server.export(TillProxy(till))
        server.export(NewTillProxy(till))
        let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"), .patient)
        #expect(try await TillProxy(client).pay(5) == 5)
        #expect(try await NewTillProxy(client).pay(Amount(cents: 5)).paid.cents == 5)
        client.close()
        await server.stop()
    }

    @Test func `a struct of raw values is compared and kept as its raw value`() async throws {
        #expect(Colour(rawValue: "red") == .red)
    }

    /// What a call ends with, in the words of the article.
    private func end(
        of call: ((RPCClient) async throws -> Bool)?, on proxies: [any ServiceProxy]
    ) async throws -> String {
        let call = try #require(call)
        return try await withServer(exporting: proxies) { url in
            let client = RPCClient(url, .patient)
            defer { client.close() }
            do {
                return try await call(client) ? "works" : "wrong values"
            } catch let error as RPCError {
                let outcome = error.outcome == .notExecuted ? "not executed" : "\(error.outcome)"
                return "`\(Self.names[error.code] ?? "\(error)")`, \(outcome)"
            }
        }
    }

    private static let names: [RPCError.Code: String] = [
        .noSuchMethod: ".noSuchMethod", .noSuchObject: ".noSuchObject", .invalidArguments: ".invalidArguments",
        .invalidReply: ".invalidReply",
        .unlistedError: ".unlistedError", .subjectFailed: ".subjectFailed",
    ]
}

private struct Colour: RawRepresentable, Codable, Hashable, Sendable {
    var rawValue: String
    static let red = Colour(rawValue: "red")
}

private struct Amount: Codable, Sendable {
    var cents: Int
}

private struct Receipt: Codable, Sendable {
    var paid: Amount
}

@Service
private protocol Till: Sendable {
    func pay(_ cents: Int) async throws -> Int
}

@Service(name: "Till2")
private protocol NewTill: Sendable {
    func pay(_ amount: Amount) async throws -> Receipt
}

private struct DrawerTill: Till, NewTill {
    func pay(_ cents: Int) async throws -> Int { cents }
    func pay(_ amount: Amount) async throws -> Receipt { Receipt(paid: amount) }
}
