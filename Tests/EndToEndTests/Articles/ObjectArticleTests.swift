// The code of the article on handing objects around, with the library that rpc-server hosts.

import Protocols
import RPCServer
import RPCSockets
import RemoteProxy
import Subjects
import TestSupport
import Testing

private final class KeenReader: LibraryReader {
    let titles = Lock<[String]>([])
    func bookOpened(_ title: String) { titles.withLock { $0.append(title) } }
}

private struct Favourites: Codable, Sendable {
    let best: Reference<BookProxy>
}

@Service
private protocol Cabinet: Sendable {
    func same(_ favourites: Favourites) async throws -> Favourites
}

private struct WoodenCabinet: Cabinet {
    func same(_ favourites: Favourites) async throws -> Favourites { favourites }
}

@Suite(.waitsForOthers, .hasTime) struct `Handing objects around` {
    private let server = RPCServer(.quiet)

    private func url() async throws -> Endpoint {
        server.export(LibraryProxy(TownLibrary()))
        return try await server.listen(on: "tcp://127.0.0.1:0")
    }

    @Test func `a book stays at the server, and its reader at the client`() async throws {
        let client = RPCClient(try await url(), .patient)
        let library: any Library = LibraryProxy(client)
        let reader = KeenReader()
        do {
            let book = try await library.open("Emma")  // a proxy: the book is at the server
            print(try await book.title())
            try await library.subscribe(reader)  // the server calls the reader in this process
            #expect(try await library.compare(book, library.open("Emma")))
            #expect(try await !library.compare(book, library.open("Kim")))
            #expect(try await book.page(1).hasPrefix("Emma Woodhouse"))
            await until { reader.titles.withLock { $0 } == ["Emma", "Kim"] }
            #expect(try await BookProxy(book).isIdentical(to: library.open("Emma")))
        }
        #expect(try await library.booksHeld() == 0)
        await #expect(throws: LibraryFailure.noSuchTitle("Ulysses")) { _ = try await library.open("Ulysses") }
        await client.close(grace: .seconds(2))
        await server.stop()
    }

    @Test func `objects that do not go away are listed with the caller that has them`() async throws {
        let client = RPCClient(try await url(), .patient)
        let library = LibraryProxy(client)
        let reader = KeenReader()
        try await library.subscribe(reader)
        do {
            let books = [try await library.open("Emma"), try await library.open("Kim")]
            #expect(server.referenceCounts.values.map(\.given) == [["Book": 2]])
            for (caller, counts) in server.referenceCounts {
                print(caller.address, counts.given)  // tcp://127.0.0.1:51234 ["Book": 9120]
            }
            let counters = server.counters
            #expect(counters.referencesGiven == 2 && counters.referencesTaken == 1)
            #expect(client.referenceCounts.given == ["LibraryReader": 1] && client.referenceCounts.takenCount == 2)
            withExtendedLifetime(books) {}
        }
        _ = try await library.titles()
        #expect(server.counters.referencesGiven == 0 && client.referenceCounts.takenCount == 0)
        await client.close(grace: .seconds(2))
        await until { server.referenceCounts.isEmpty }
        #expect(client.referenceCounts.isEmpty)
        await server.stop()
    }

    @Test func `a caller with too many books is told the limit, which is counted`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.maximumReferences = 1
        let server = RPCServer(configuration)
        server.export(LibraryProxy(TownLibrary()))
        let client = RPCClient(try await server.listen(on: "tcp://127.0.0.1:0"), .patient)
        let library = LibraryProxy(client)
        let book = try await library.open("Emma")
        let error = await #expect(throws: RPCError.self) { _ = try await library.open("Kim") }
        #expect(error?.code == .busy && error?.message.contains("maximumReferences") == true)
        #expect(server.counters.overruns["maximumReferences"] == 1)
        #expect(try await book.title() == "Emma")
        await client.close(grace: .seconds(2))
        await server.stop()
    }

    @Test func `a book inside a value is one too`() async throws {
        let client = RPCClient(try await url(), .patient)
        let library = LibraryProxy(client)
        server.export(CabinetProxy(WoodenCabinet()))
        let book = try await library.open("Emma")
        let favourites = Favourites(best: Reference(book))
        print(try await favourites.best.object.title())
        let same = try await CabinetProxy(client).same(favourites)
        #expect(BookProxy(same.best.object).isIdentical(to: favourites.best.object))
        await client.close(grace: .seconds(2))
        await server.stop()
    }

    @Test func `a transfer says how far it has come`() async throws {
        let client = RPCClient(try await url(), .patient)
        server.export(TransferProxy(PlainTransfer()))
        let transfer = TransferProxy(client)
        let text = try await transfer.download("report") { print("\($0) %") }
        #expect(text.hasPrefix("report, part 1. report, part 2."))
        let parts = Lock<[Int]>([])
        _ = try await transfer.download("news") { part in parts.withLock { $0.append(part) } }
        await until { parts.withLock { $0 } == [25, 50, 75, 100] }
        await client.close(grace: .seconds(2))
        await server.stop()
    }

    @Test func `books are given back when their client is gone`() async throws {
        let url = try await url()
        let (client, other) = (RPCClient(url, .patient), RPCClient(url, .patient))
        let held = try await LibraryProxy(client).open("Emma")
        #expect(try await LibraryProxy(other).booksHeld() == 1)
        await client.close(grace: .seconds(2))
        let error = await #expect(throws: RPCError.self) { try await held.title() }
        #expect(error?.outcome == .notExecuted)
        try await until { try await LibraryProxy(other).booksHeld() == 0 }
        await other.close(grace: .seconds(2))
        await server.stop()
    }
}
