// The code of the article on what became of a call.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Suite struct `The article on what became of a call` {
    private struct Rack: Shelf {
        let books = Lock<[String]>([])
        var failure: RPCError?

        func titles() async throws -> [String] { books.withLock { $0 } }
        func put(_ book: String, at place: Int) async throws { books.withLock { $0.insert(book, at: place) } }
        func append(_ book: String) async throws {
            if let failure { throw failure }
            books.withLock { $0.append(book) }
        }
    }

    @Test(arguments: [RPCError.Outcome.notExecuted, .executed, .unknown])
    func `each outcome has its answer`(_ outcome: RPCError.Outcome) async throws {
        let rack = Rack(failure: RPCError(.unavailable, "as asked", outcome: outcome))
        // Straight to the object: a proxy would know that it has run.
        let shelf: any Shelf = rack
        let book = "Of Proxies"
        var later: [String] = []
        var told: [RPCError.Outcome] = []
        func report(_ error: RPCError) { told.append(error.outcome) }
        func reconcile(_ book: String) async throws { told.append(.unknown) }
        do {
            try await shelf.append(book)
        } catch let error as RPCError {
            switch error.outcome {
            case .notExecuted: later.append(book)
            case .executed: report(error)
            case .unknown: try await reconcile(book)
            }
        }
        #expect(later == (outcome == .notExecuted ? [book] : []))
        #expect(told == (outcome == .notExecuted ? [] : [outcome]))
    }

    @Test func `finishing a client answers how many posts were left`() async throws {
        let client = RPCClient("tcp://127.0.0.1:1")
        let lost = await client.close(grace: .seconds(2))
        if lost > 0 { print("\(lost) posts may not have arrived") }
        #expect(lost == 0)
    }

    @Test func `connecting tells why there is no connection`() async throws {
        var configuration = RPCClient.Configuration()
        configuration.waitsForConnection = false
        configuration.log = { _ in }
        let client = RPCClient("tcp://127.0.0.1:1", configuration)
        let shown = Lock<[String]>([])
        @Sendable func show(_ text: String) { shown.withLock { $0.append(text) } }
        let watching = Task {
            for await state in client.states {
                switch state {
                case .connected(let resumed): show(resumed ? "connected again" : "connected")
                case .waiting(_, let error): show("not connected: \(error.message)")
                case .closed: show("closed")
                default: show("connecting")
                }
            }
        }
        let error = await #expect(throws: RPCError.self) {
            try await client.connect()
        }
        #expect(error?.code == .unavailable)
        client.close()
        await watching.value
        #expect(shown.withLock { $0.last } == "closed")
    }

    @Test(.waitsForOthers) func `a client that pauses is there again when it resumes`() async throws {
        try await withServer(exporting: [ShelfProxy(Rack())]) { url in
            var configuration = RPCClient.Configuration.patient
            configuration.sessionGrace = .seconds(600)
            configuration.keepalive.interval = .seconds(120)
            let client = RPCClient(url, configuration)
            let shelf = ShelfProxy(client)
            try await shelf.append("Of Proxies")
            client.pause()
            _ = await client.states.first { $0 == .paused }
            let titles = Task { try await shelf.titles() }
            client.resume()
            #expect(try await titles.value == ["Of Proxies"])
            client.close()
        }
    }

    @Test func `a call in withCallTimeout is an ordinary call`() async throws {
        let shelf = ShelfProxy(Rack())
        try await shelf.append("Of Proxies")
        try await shelf.put("Of Sockets", at: 0)
        let titles = try await withCallTimeout(.seconds(2)) { try await shelf.titles() }
        #expect(titles == ["Of Sockets", "Of Proxies"])
    }
}

@Service
protocol Shelf: Sendable {
    @ReadOnly func titles() async throws -> [String]
    @Idempotent func put(_ book: String, at place: Int) async throws
    func append(_ book: String) async throws
}
