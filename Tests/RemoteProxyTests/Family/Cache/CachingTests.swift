// A cached proxy in memory: what is shown, what is fetched, and who waits for it.

import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Caching` {
    private let loop = ManualLoop()
    private let shelf: CountingShelf

    init() { shelf = CountingShelf(loop) }

    private func cached(_ policy: CachePolicy = CachePolicy()) -> ShelfProxy {
        ShelfProxy(shelf).cached(in: .memory, methods: [.titles, .book, .search], policy, .manual(loop))
    }

    @Test func `the first call goes through, later ones get what was seen and fetch for the next time`() throws {
        let proxy = cached()
        shelf.takes(.seconds(1))
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        #expect(loop.now == Instant(nanoseconds: 1_000_000_000))
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        #expect(loop.now == Instant(nanoseconds: 1_000_000_000))
        loop.advance(by: .seconds(1))
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "2"])
    }

    @Test func `a fresh result is not fetched again until it is no longer fresh`() throws {
        let proxy = cached(CachePolicy(freshFor: .seconds(10)))
        for _ in 0..<100 { #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"]) }
        loop.advance(by: .milliseconds(9_999))
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        loop.run()
        #expect(shelf.calls == 1)
        loop.advance(by: .milliseconds(1))
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        loop.run()
        #expect(shelf.calls == 2)
    }

    @Test func `a result that is too old is not shown`() throws {
        let proxy = cached(CachePolicy(freshFor: .seconds(10), staleFor: .seconds(5)))
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        loop.advance(by: .seconds(15))
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "2"])
        shelf.isAway(true)
        loop.advance(by: .seconds(15))
        #expect(throws: ShelfIsAway()) { try loop.complete { try await proxy.titles() } }
    }

    @Test func `a thousand simultaneous first calls share one`() throws {
        let proxy = cached()
        shelf.takes(.seconds(1))
        let results = try loop.complete {
            try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<1_000 { group.addTask { try await proxy.titles() } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
        }
        #expect(results == [["titles", "1"]])
        #expect(shelf.calls == 1)
    }

    @Test func `a thousand calls of a stale result fetch once`() throws {
        let proxy = cached()
        _ = try loop.complete { try await proxy.titles() }
        shelf.takes(.seconds(1))
        for _ in 0..<1_000 { #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"]) }
        loop.advance(by: .seconds(1))
        #expect(shelf.calls == 2)
    }

    @Test func `results are told apart by their arguments, and equal dictionaries are equal`() throws {
        let proxy = cached(CachePolicy(freshFor: .seconds(10)))
        #expect(try loop.complete { try await proxy.book(1) } == "book 1, 1")
        #expect(try loop.complete { try await proxy.book(2) } == "book 2, 2")
        #expect(try loop.complete { try await proxy.book(1) } == "book 1, 1")
        let words = (0..<50).map { ("word \($0)", $0) }
        for order in [words, words.reversed(), words.shuffled()] {
            // Capacity changes the order in which a dictionary hands out what it has.
            var dictionary = [String: Int](minimumCapacity: order.first?.1 == 0 ? 10 : 1_000)
            for (word, number) in order { dictionary[word] = number }
            let query = dictionary
            #expect(try loop.complete { try await proxy.search(query) } == "50 words, 3")
        }
        #expect(shelf.calls == 3)
    }

    @Test func `a failure never takes the place of a result`() throws {
        let proxy = cached()
        _ = try loop.complete { try await proxy.titles() }
        shelf.isAway(true)
        for _ in 0..<5 {
            #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
            loop.advance(by: .seconds(60))
        }
        #expect(shelf.calls == 6)
        shelf.isAway(false)
        _ = try loop.complete { try await proxy.titles() }
        loop.run()
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "7"])
    }

    @Test func `after a failure nothing is fetched behind callers for a while`() throws {
        let proxy = cached()
        _ = try loop.complete { try await proxy.titles() }
        shelf.isAway(true)
        for _ in 0..<100 {
            _ = try loop.complete { try await proxy.titles() }
            loop.run()
        }
        #expect(shelf.calls == 2)
        loop.advance(by: .seconds(1))
        _ = try loop.complete { try await proxy.titles() }
        loop.run()
        #expect(shelf.calls == 3)
    }

    @Test func `a first call that fails reaches all that waited, and the next tries again`() throws {
        let proxy = cached()
        shelf.takes(.seconds(1))
        shelf.isAway(true)
        let waiting = (0..<10).map { _ in Task(executorPreference: loop) { try await proxy.titles() } }
        for task in waiting { #expect(throws: ShelfIsAway()) { try loop.complete { try await task.value } } }
        #expect(shelf.calls == 1)
        shelf.isAway(false)
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "2"])
    }

    @Test func `who is cancelled leaves at once, and the others get what they wait for`() throws {
        let proxy = cached()
        shelf.takes(.seconds(1))
        let first = Task(executorPreference: loop) { try await proxy.titles() }
        let second = Task(executorPreference: loop) { try await proxy.titles() }
        loop.run()
        first.cancel()
        #expect(throws: CancellationError.self) { try loop.complete { try await first.value } }
        #expect(loop.now == Instant(nanoseconds: 0))
        #expect(try loop.complete { try await second.value } == ["titles", "1"])
        #expect(shelf.cancelled == 0)
    }

    @Test func `who waits until a deadline leaves then, and the result is there for the next`() throws {
        let proxy = cached()
        shelf.takes(.seconds(10))
        let early = Instant(nanoseconds: 2_000_000_000)
        let error = try #require(throws: RPCError.self) {
            try loop.complete {
                try await CallScope.with(CallScope(deadline: early)) { try await proxy.titles() }
            }
        }
        #expect(error.code == .deadlineExceeded)
        #expect(loop.now == early)
        loop.advance(by: .seconds(8))
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        #expect(loop.now == Instant(nanoseconds: 10_000_000_000))
    }

    @Test func `fetching ends at its own time limit, whatever the object does`() throws {
        var policy = CachePolicy()
        policy.refreshTimeout = .seconds(3)
        let proxy = cached(policy)
        shelf.takes(.seconds(1_000))
        let error = try #require(throws: RPCError.self) { try loop.complete { try await proxy.titles() } }
        #expect(error.code == .deadlineExceeded)
        // The object gets a moment to end by itself, with a better error.
        #expect(loop.now == Instant(nanoseconds: 3_100_000_000))
        loop.advance(by: .seconds(1))
        #expect(shelf.cancelled == 1)
        shelf.takes(.zero)
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "2"])
    }

    @Test func `the deadline of the caller is not that of what is fetched behind it`() throws {
        let proxy = cached()
        _ = try loop.complete { try await proxy.titles() }
        shelf.takes(.seconds(5))
        let soon = loop.now.advanced(by: .seconds(1))
        _ = try loop.complete {
            try await CallScope.with(CallScope(deadline: soon)) { try await proxy.titles() }
        }
        loop.advance(by: .seconds(5))
        shelf.takes(.zero)
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "2"])
    }

    @Test func `no more is fetched behind callers at a time than the policy says`() throws {
        var policy = CachePolicy()
        policy.maximumRefreshes = 3
        let proxy = cached(policy)
        for number in 0..<10 { _ = try loop.complete { try await proxy.book(number) } }
        shelf.takes(.seconds(1))
        for number in 0..<10 { _ = try loop.complete { try await proxy.book(number) } }
        loop.run()
        #expect(shelf.calls == 13)
        loop.advance(by: .seconds(1))
        for number in 0..<10 { _ = try loop.complete { try await proxy.book(number) } }
        loop.run()
        #expect(shelf.calls == 16)
    }

    @Test func `what failed behind callers does not count among what is fetched, once that goes well again`() throws {
        var policy = CachePolicy()
        policy.maximumRefreshes = 3
        let proxy = cached(policy)
        for number in 0..<3 { _ = try loop.complete { try await proxy.book(number) } }
        shelf.isAway(true)
        // More often than so many may be fetched at a time, one after the other and at once.
        for _ in 0..<4 {
            for number in 0..<3 { _ = try loop.complete { try await proxy.book(number) } }
            loop.advance(by: policy.pauseAfterFailure)
        }
        let calls = shelf.calls
        #expect(calls > 6)
        shelf.isAway(false)
        for number in 0..<3 { _ = try loop.complete { try await proxy.book(number) } }
        loop.run()
        #expect(shelf.calls == calls + 3)
    }

    @Test func `methods that are not named, and posts, go straight through`() throws {
        let proxy = cached(CachePolicy(freshFor: .seconds(10)))
        #expect(try loop.complete { try await proxy.add("a") } == 1)
        #expect(try loop.complete { try await proxy.add("a") } == 2)
        proxy.dust(3)
        #expect(shelf.dusted == 3)
    }

    @Test func `unless methods are named, those that only read are cached`() throws {
        let proxy = ShelfProxy(shelf).cached(
            in: .memory, methods: nil, CachePolicy(freshFor: .seconds(10)), .manual(loop))
        for _ in 0..<2 { #expect(try loop.complete { try await proxy.book(1) } == "book 1, 1") }
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "2"])
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "3"])
    }

    @Test func `a method that nothing can be kept of is named in the log`() {
        let heard = Heard()
        var policy = CachePolicy()
        policy.log = heard.hear
        _ = ShelfProxy(shelf).cached(in: .memory, methods: [.dust, .titles], policy, .manual(loop))
        _ = ShelfProxy(shelf).cached(in: .memory, methods: [], policy, .manual(loop))
        #expect(
            heard.all.map { $0.prefix(25) }
                == ["Shelf.dust cannot be cache", "nothing of Shelf is cached"].map { $0.prefix(25) })
    }

    @Test func `of more results than may be kept those stay that were used last`() throws {
        var policy = CachePolicy(freshFor: .seconds(10))
        policy.maximumEntries = 3
        let proxy = cached(policy)
        for number in [1, 2, 3, 1, 4] { _ = try loop.complete { try await proxy.book(number) } }
        #expect(shelf.calls == 4)
        for number in [1, 3, 4] { _ = try loop.complete { try await proxy.book(number) } }
        #expect(shelf.calls == 4)
        _ = try loop.complete { try await proxy.book(2) }
        #expect(shelf.calls == 5)
    }
}
