// What those hear who watch a cached result; and the cache around and behind a connection.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Cache updates` {
    private let network = SimulatedNetwork()
    private let shelf: CountingShelf
    private let folder = TemporaryFolder()
    private var loop: ManualLoop { network.loop }

    init() {
        shelf = CountingShelf(network.loop)
        network.exports.add(ShelfProxy(shelf), named: nil)
    }

    private func cached(_ proxy: ShelfProxy, _ policy: CachePolicy = CachePolicy()) -> (proxy: ShelfProxy, cache: Cache)
    {
        let cache = Cache.memory
        return (proxy.cached(in: cache, methods: [.titles, .book], policy, .manual(loop)), cache)
    }

    @Test func `each new result is told to who watches it, and to nobody else`() throws {
        let (proxy, cache) = cached(ShelfProxy(shelf))
        let titles = try cache.updates(of: ShelfProxy.Methods.titles)
        let second = try cache.updates(of: ShelfProxy.Methods.book, 2)
        let (count, loop) = (3, loop)
        for _ in 0..<count {
            _ = try loop.complete { try await proxy.titles() }
            _ = try loop.complete { try await proxy.book(1) }
            loop.run()
        }
        _ = try loop.complete { try await proxy.book(2) }
        let seen = try loop.complete { await titles.prefix(count).reduce(into: []) { $0.append($1.value[1]) } }
        #expect(seen == ["1", "3", "5"])
        #expect(try loop.complete { await second.first { _ in true }?.value } == "book 2, 7")
    }

    @Test func `with the server gone callers see what was seen, and watchers hear why it is no newer`() throws {
        var policy = CachePolicy()
        policy.refreshTimeout = .seconds(2)
        let (proxy, cache) = cached(ShelfProxy(network.client()), policy)
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        network.isServing = false
        network.cut()
        let updates = try cache.updates(of: ShelfProxy.Methods.titles)
        let before = loop.now
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        #expect(loop.now == before)
        let update = try loop.complete { await updates.first { _ in true } }
        guard case .stale(let shown, let error) = update else { Issue.record("\(String(describing: update))"); return }
        #expect(shown == ["titles", "1"])
        #expect((error as? RPCError)?.code == .unavailable)

        network.isServing = true
        loop.advance(by: .seconds(20))
        let later = try cache.updates(of: ShelfProxy.Methods.titles)
        _ = try loop.complete { try await proxy.titles() }
        guard case .refreshed(let fresh) = try loop.complete({ await later.first { _ in true } }) else {
            Issue.record("not refreshed")
            return
        }
        #expect(fresh == ["titles", "2"])
    }

    @Test func `watchers hear at once that the connection is refused`() throws {
        let (proxy, cache) = cached(ShelfProxy(network.client()))
        _ = try loop.complete { try await proxy.titles() }
        network.isServing = false
        network.cut()
        loop.run()
        let (updates, before) = (try cache.updates(of: ShelfProxy.Methods.titles), loop.now)
        _ = try loop.complete { try await proxy.titles() }
        let update = try loop.complete { await updates.first { _ in true } }
        guard case .stale(_, let error as RPCError) = update else {
            Issue.record("\(String(describing: update))"); return
        }
        #expect(error.code == .unavailable && error.outcome == .notExecuted && error.message.contains("is away"))
        #expect(loop.now == before)
    }

    @Test func `a first call says why there is no connection, however long it may wait`() throws {
        network.isServing = false
        let proxy = cached(ShelfProxy(network.client())).proxy
        for proxy in [proxy, proxy.with(timeout: .seconds(2), clock: loop)] {
            let error = loop.failure { try await proxy.book(1) }
            #expect(error?.code == .unavailable && error?.outcome == .notExecuted, "\(String(describing: error))")
            #expect(error?.message.contains("within the time allowed for it: the server is away") == true)
        }
        // A call that may have been sent is not among those.
        network.isServing = true
        shelf.takes(.seconds(60))
        let slow = cached(ShelfProxy(network.client())).proxy.with(timeout: .seconds(2), clock: loop)
        let error = loop.failure { try await slow.book(3) }
        #expect(error?.code == .deadlineExceeded && error?.outcome == .unknown)
    }

    @Test func `a server shows its clients what it has cached`() throws {
        network.exports.add(cached(ShelfProxy(shelf), CachePolicy(freshFor: .seconds(10))).proxy, named: "cached")
        let proxy = ShelfProxy(network.client(), named: "cached")
        #expect(try loop.complete { try await proxy.book(7) } == "book 7, 1")
        #expect(try loop.complete { try await proxy.book(7) } == "book 7, 1")
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "2"])
        #expect(shelf.calls == 2)
    }

    @Test func `what is not cached cannot be watched`() throws {
        let unused = #expect(throws: RPCError.self) { try Cache.memory.updates(of: ShelfProxy.Methods.titles) }
        #expect(unused?.code == .noSuchMethod && unused?.message.contains(".cached(in:)") == true)
        let (_, cache) = cached(ShelfProxy(shelf))
        let uncached = #expect(throws: RPCError.self) {
            try cache.updates(of: ShelfProxy.Methods.search, [:])
        }
        #expect(uncached?.message.contains("Shelf.search") == true)
    }

    @Test func `a cache that is given to another proxy tells what that one sees, and the former goes on`() throws {
        let policy = CachePolicy(freshFor: .seconds(100))
        let (proxy, cache) = cached(ShelfProxy(shelf), policy)
        let former = try cache.updates(of: ShelfProxy.Methods.titles)
        let other = ShelfProxy(CountingShelf(loop)).cached(in: cache, methods: [.titles], policy, .manual(loop))
        let present = try cache.updates(of: ShelfProxy.Methods.titles)
        for _ in 0..<2 {
            #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
            #expect(try loop.complete { try await other.titles() } == ["titles", "1"])
        }
        try cache.invalidate(ShelfProxy.Methods.titles)
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        #expect(try loop.complete { try await other.titles() } == ["titles", "2"])
        #expect(try loop.complete { await former.first { _ in true }?.value } == ["titles", "1"])
        let seen = try loop.complete { await present.prefix(2).reduce(into: []) { $0.append($1.value[1]) } }
        #expect(seen == ["1", "2"])
    }

    @Test func `results stay as long as the cache is there`() throws {
        let cache = Cache.file(folder.path + "/shelf.cache")
        _ = try loop.complete { [shelf, loop] in
            try await ShelfProxy(shelf).cached(in: cache, methods: nil, CachePolicy(), .manual(loop)).titles()
        }
        #expect(try loop.complete { await cache.save() })
        #expect(try ReplaceableFile(folder.path + "/shelf.cache").read(atMost: 1 << 20) != nil)
    }

    @Test func `arguments whose result is never kept cannot be watched`() throws {
        let cache = Cache.memory
        _ = CabinetProxy(CountingCabinet()).cached(in: cache, methods: nil, CachePolicy(), .manual(loop))
        let error = #expect(throws: RPCError.self) { try cache.updates(of: CabinetProxy.Methods.weigh, .nan) }
        #expect(error?.code == .invalidArguments && error?.outcome == .notExecuted)
    }

    @Test func `updates end with the cache`() throws {
        // Not by a variable that is set to nil: Swift 6.3 with -O never lets go of what stood in an optional variable if that was
        // asked with `?.` before.
        let updates = try cached(ShelfProxy(shelf)).cache.updates(of: ShelfProxy.Methods.titles)
        #expect(try loop.complete { await updates.reduce(0) { count, _ in count + 1 } } == 0)
    }
}
