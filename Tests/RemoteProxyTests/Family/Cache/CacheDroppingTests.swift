// Results that a cache drops because they were invalidated, or because the object may have changed.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `A cache drops` {
    private let loop = ManualLoop()
    private let shelf: CountingShelf
    private let folder = TemporaryFolder()

    init() { shelf = CountingShelf(loop) }

    private func cached(
        in cache: Cache = .memory, _ change: (inout CachePolicy) -> Void = { _ in }
    ) -> (proxy: ShelfProxy, cache: Cache) {
        var policy = CachePolicy(freshFor: .seconds(100))
        change(&policy)
        return (ShelfProxy(shelf).cached(in: cache, methods: [.titles, .book], policy, .manual(loop)), cache)
    }

    private func launch() -> (proxy: ShelfProxy, cache: Cache) { cached(in: .file(folder.path + "/shelf.cache")) }

    private func titles(_ proxy: ShelfProxy) throws -> [String] { try loop.complete { try await proxy.titles() } }
    private func book(_ proxy: ShelfProxy, _ number: Int) throws -> String {
        try loop.complete { try await proxy.book(number) }
    }

    @Test func `the results of one method, for all arguments`() throws {
        let (proxy, cache) = cached()
        #expect(try titles(proxy) == ["titles", "1"])
        #expect(try book(proxy, 1) == "book 1, 2")
        #expect(try book(proxy, 2) == "book 2, 3")
        try cache.invalidate(ShelfProxy.Methods.book)
        #expect(try book(proxy, 1) == "book 1, 4")
        #expect(try book(proxy, 2) == "book 2, 5")
        #expect(try titles(proxy) == ["titles", "1"])
        // Not cached.
        #expect(throws: RPCError.self) { try cache.invalidate(ShelfProxy.Methods.search) }
        #expect(throws: RPCError.self) { try Cache.memory.invalidate(ShelfProxy.Methods.titles) }
        #expect(try titles(proxy) == ["titles", "1"])
    }

    @Test func `all results`() throws {
        let (proxy, cache) = cached()
        #expect(try titles(proxy) == ["titles", "1"])
        #expect(try book(proxy, 1) == "book 1, 2")
        cache.invalidateAll()
        #expect(try titles(proxy) == ["titles", "3"])
        #expect(try book(proxy, 1) == "book 1, 4")
    }

    @Test func `all results when a call may have changed the object`() throws {
        let proxy = cached().proxy
        #expect(try titles(proxy) == ["titles", "1"])
        #expect(try loop.complete { try await proxy.add("new") } == 2)
        #expect(try titles(proxy) == ["titles", "3"])
        shelf.isAway(true)
        #expect(throws: ShelfIsAway()) { try loop.complete { try await proxy.add("newer") } }
        shelf.isAway(false)
        #expect(try titles(proxy) == ["titles", "5"])
        proxy.dust(1)
        #expect(try titles(proxy) == ["titles", "6"])
    }

    @Test func `nothing when a call certainly did nothing`() throws {
        let proxy = ShelfProxy(shelf).guarded(by: .nobody, except: [.titles]).cached(
            in: .memory, methods: [.titles], CachePolicy(freshFor: .seconds(100)), .manual(loop))
        #expect(try titles(proxy) == ["titles", "1"])
        #expect(throws: RPCError.self) { try loop.complete { try await proxy.add("new") } }
        #expect(try titles(proxy) == ["titles", "1"])
    }

    @Test func `nothing when the policy keeps results after changes`() throws {
        let proxy = cached { $0.keepsAfterChanges = true }.proxy
        #expect(try titles(proxy) == ["titles", "1"])
        _ = try loop.complete { try await proxy.add("new") }
        proxy.dust(1)
        #expect(try titles(proxy) == ["titles", "1"])
    }

    @Test func `what was being fetched, but not for those that wait for it`() throws {
        let (proxy, cache) = cached()
        shelf.takes(.seconds(1))
        let before = Task(executorPreference: loop) { try await proxy.titles() }
        loop.run()
        cache.invalidateAll()
        // Begins a fetch of its own, and does not join the earlier one.
        let after = Task(executorPreference: loop) { try await proxy.titles() }
        loop.run()
        #expect(shelf.calls == 2)
        loop.advance(by: .seconds(1))
        #expect(try loop.complete { try await before.value } == ["titles", "1"])
        #expect(try loop.complete { try await after.value } == ["titles", "2"])
        #expect(try titles(proxy) == ["titles", "2"])
    }

    @Test(arguments: [true, false])
    func `what was being fetched and ends late, whether or not something newer is there by then`(isThere: Bool) throws {
        let (proxy, cache) = cached()
        shelf.takes(.seconds(2))
        let before = Task(executorPreference: loop) { try await proxy.titles() }
        loop.run()
        cache.invalidateAll()
        shelf.takes(.seconds(1))
        if isThere { #expect(try titles(proxy) == ["titles", "2"]) }
        #expect(try loop.complete { try await before.value } == ["titles", "1"])
        #expect(loop.now == Instant(nanoseconds: 2_000_000_000))
        #expect(try titles(proxy) == ["titles", "2"])
    }

    @Test func `results in the file as well, also those that another process has written before`() throws {
        let ((one, oneCache), (other, otherCache)) = (launch(), launch())
        #expect(try titles(one) == ["titles", "1"])
        #expect(try book(other, 1) == "book 1, 2")
        #expect(try loop.complete { await oneCache.save() })
        #expect(try loop.complete { await otherCache.save() })
        loop.advance(by: .seconds(2))
        oneCache.invalidateAll()
        #expect(try loop.complete { await oneCache.save() })
        let next = launch().proxy
        #expect(try titles(next) == ["titles", "3"])
        #expect(try book(next, 1) == "book 1, 4")
    }

    @Test func `results in the file that were there before the proxy`() throws {
        let (proxy, cache) = launch()
        #expect(try titles(proxy) == ["titles", "1"])
        #expect(try loop.complete { await cache.save() })
        loop.advance(by: .milliseconds(1))
        let next = Cache.file(folder.path + "/shelf.cache")
        next.invalidateAll()
        #expect(try titles(cached(in: next).proxy) == ["titles", "2"])
    }

    /// The next launch after the process has been killed, before the file could be written.
    @Test(arguments: ["a call", "a post", "all"])
    func `results in the file at once, so that a crash does not bring them back`(_ change: String) throws {
        let (proxy, cache) = launch()
        #expect(try titles(proxy) == ["titles", "1"])
        #expect(try loop.complete { await cache.save() })
        loop.advance(by: .milliseconds(1))
        switch change {
        case "a call": #expect(try loop.complete { try await proxy.add("new") } == 2)
        case "a post": proxy.dust(1)
        default: cache.invalidateAll()
        }
        let calls = shelf.calls
        #expect(try titles(launch().proxy) == ["titles", "\(calls + 1)"])
        loop.advance(by: .milliseconds(1))
        // Later results are kept, by a process that dropped nothing as well.
        let (other, otherCache) = launch()
        #expect(try book(other, 1) == "book 1, \(calls + 2)")
        #expect(try loop.complete { await otherCache.save() })
        #expect(try book(launch().proxy, 1) == "book 1, \(calls + 2)")
    }

    @Test func `no result of the file when its change certainly did nothing`() throws {
        #expect(try titles(launch().proxy) == ["titles", "1"])
        loop.advance(by: .seconds(2))
        let refusing = ShelfProxy(shelf).guarded(by: .nobody, except: [.titles]).cached(
            in: .file(folder.path + "/shelf.cache"), methods: [.titles], CachePolicy(freshFor: .seconds(100)),
            .manual(loop))
        #expect(throws: RPCError.self) { try loop.complete { try await refusing.add("new") } }
        #expect(try titles(launch().proxy) == ["titles", "1"])
    }

    @Test func `by default what is older than a day`() throws {
        let proxy = ShelfProxy(shelf).cached(in: .memory, methods: [.titles], CachePolicy(), .manual(loop))
        #expect(try titles(proxy) == ["titles", "1"])
        loop.advance(by: .seconds(86_399))
        #expect(try titles(proxy) == ["titles", "1"])
        loop.run()
        loop.advance(by: .seconds(86_400))
        #expect(try titles(proxy) == ["titles", "3"])
    }
}
