// A cache that outlives its process: the next launch, bad files, bad disks, several writers.

import Foundation
import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite(.computesForLong, .waitsForOthers) struct `Cache files` {
    private let loop = ManualLoop()
    private let shelf: CountingShelf
    private let heard = Heard()
    private let folder = TemporaryFolder()

    init() { shelf = CountingShelf(loop) }

    private var path: String { folder.path + "/shelf.cache" }

    /// As a program does at its start.
    private func launch(_ policy: CachePolicy = CachePolicy(), at path: String? = nil) -> (
        proxy: ShelfProxy, cache: Cache
    ) {
        var policy = policy
        policy.log = heard.hear
        let cache = Cache.file(path ?? self.path)
        return (ShelfProxy(shelf).cached(in: cache, methods: [.titles, .book], policy, .manual(loop)), cache)
    }

    @Test func `the next launch shows at once what the last one has seen, although nobody answers`() throws {
        let (first, cache) = launch()
        #expect(try loop.complete { try await first.titles() } == ["titles", "1"])
        #expect(try loop.complete { await cache.save() })
        let second = launch().proxy
        shelf.isAway(true)
        let before = loop.now
        #expect(try loop.complete { try await second.titles() } == ["titles", "1"])
        #expect(loop.now == before)
        shelf.isAway(false)
        loop.advance(by: .seconds(1))
        _ = try loop.complete { try await second.titles() }
        loop.run()
        #expect(try loop.complete { try await second.titles() } == ["titles", "3"])
        #expect(heard.all.isEmpty)
    }

    @Test func `ages count across launches, and a clock that was set back makes nothing fresh`() throws {
        let first = launch(CachePolicy(freshFor: .seconds(10))).proxy
        _ = try loop.complete { try await first.titles() }
        loop.advance(by: .seconds(6))
        let second = launch(CachePolicy(freshFor: .seconds(10))).proxy
        _ = try loop.complete { try await second.titles() }
        loop.run()
        #expect(shelf.calls == 1)
        loop.advance(by: .seconds(6))
        _ = try loop.complete { try await second.titles() }
        loop.run()
        #expect(shelf.calls == 2)
        loop.advance(by: .seconds(2))
        let earlier = ShelfProxy(shelf).cached(
            in: .file(path), methods: [.titles], CachePolicy(freshFor: .seconds(10)), .manual(loop, startingAt: 0))
        #expect(try loop.complete { try await earlier.titles() } == ["titles", "2"])
        loop.run()
        #expect(try loop.complete { try await earlier.titles() } == ["titles", "3"])
        loop.run()
        #expect(shelf.calls == 3)
    }

    @Test func `a file that is damaged anywhere is set aside and harms nobody`() throws {
        let (first, cache) = launch()
        _ = try loop.complete { try await first.titles() }
        _ = try loop.complete { await cache.save() }
        let good = try #require(try ReplaceableFile(path).read(atMost: 1 << 20))
        loop.advance(by: .seconds(5))
        let places = stride(from: 1, to: good.count, by: 23)
        for place in places {
            for bad in [Array(good[..<place]), good[..<place] + [good[place] ^ 1] + good[(place + 1)...]] {
                try ReplaceableFile(path).replace(with: bad)
                let calls = shelf.calls
                let proxy = launch().proxy
                #expect(try loop.complete { try await proxy.titles() } == ["titles", "\(calls + 1)"])
                #expect(try ReplaceableFile(path + ".aside").read(atMost: 1 << 20) == bad)
                loop.advance(by: .seconds(5))
            }
        }
        #expect(heard.all.allSatisfy { $0.contains("was set aside as '\(path).aside'") })
    }

    @Test func `no bit that is wrong goes unnoticed, and none that is missing`() throws {
        let records = (0..<5).map { number in
            CacheRecord(name: "Shelf.book[\(number)]", json: #""book""#, written: Int64(number), used: .max)
        }
        let good = CacheFile.contents(of: records)
        #expect(CacheFile.records(of: good)?.map(\.name) == records.map(\.name))
        #expect(CacheFile.records(of: [])?.isEmpty == true)
        for place in good.indices {
            for bit in 0..<8 {
                var bad = good
                bad[place] ^= 1 << bit
                #expect(CacheFile.records(of: bad) == nil)
            }
            guard place > 0 else { continue }
            #expect(CacheFile.records(of: Array(good[..<place])) == nil)
        }
    }

    @Test func `a file of something else is set aside, and the log says so`() throws {
        for contents in ["a letter to my aunt", "RemoteProxy cache 2\nsomething else"] {
            try ReplaceableFile(path).replace(with: Array(contents.utf8))
            let (proxy, cache) = launch()
            _ = try loop.complete { try await proxy.titles() }
            _ = try loop.complete { await cache.save() }
            #expect(heard.all.last?.hasSuffix("it is damaged, or is no cache") == true)
            #expect(try ReplaceableFile(path + ".aside").read(atMost: 100) == Array(contents.utf8))
        }
        let next = launch(CachePolicy(freshFor: .seconds(10))).proxy
        #expect(try loop.complete { try await next.titles() } == ["titles", "2"])
    }

    @Test func `results of another type than the method has now are fetched anew`() throws {
        let record = CacheRecord(name: "Shelf.titles", json: "7", written: 999_999_999_999_999_999, used: 1)
        try ReplaceableFile(path).replace(with: CacheFile.contents(of: [record]))
        let proxy = launch().proxy
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        #expect(heard.all.count == 1)
    }

    @Test(arguments: ["/missing/shelf.cache", "", "/file/shelf.cache"])
    func `a file that cannot be written is complained about once, and calls go on`(_ name: String) throws {
        try ReplaceableFile(folder.path + "/file").replace(with: [1])
        let (proxy, cache) = launch(at: folder.path + name)
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        #expect(try loop.complete { await cache.save() } == false)
        for _ in 0..<10 {
            _ = try loop.complete { try await proxy.titles() }
            loop.advance(by: .seconds(5))
        }
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "11"])
        #expect(heard.all.contains { $0.contains("cannot be written") })
        #expect(heard.all.count <= 2)
    }

    @Test func `a file without a name is complained about, and leaves nothing behind`() throws {
        let (proxy, cache) = launch(at: "")
        _ = try loop.complete { try await proxy.titles() }
        #expect(try loop.complete { await cache.save() } == false)
        #expect(heard.all.count == 1)
        #expect(heard.all.first?.contains("'' cannot be written") == true)
        #expect(access(".lock", F_OK) != 0)
    }

    @Test func `a pipe in the place of the file is left alone and nobody waits for its other end`() throws {
        try #require(mkfifo(path, 0o600) == 0)
        let (proxy, cache) = launch()
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        #expect(try loop.complete { await cache.save() } == false)
        var status = stat()
        #expect(lstat(path, &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test func `what one has written the other keeps, and takes over`() throws {
        let policy = CachePolicy(freshFor: .seconds(100))
        let ((first, firstCache), (second, secondCache)) = (launch(policy), launch(policy))
        loop.run()
        _ = try loop.complete { try await first.book(1) }
        _ = try loop.complete { await firstCache.save() }
        _ = try loop.complete { try await second.book(2) }
        _ = try loop.complete { await secondCache.save() }
        #expect(try loop.complete { try await second.book(1) } == "book 1, 1")
        let third = launch(policy).proxy
        #expect(try loop.complete { try await third.book(1) } == "book 1, 1")
        #expect(try loop.complete { try await third.book(2) } == "book 2, 2")
        #expect(shelf.calls == 2)
    }

    @Test func `a file is written at once, then after a pause, with all that came meanwhile`() throws {
        let proxy = launch().proxy
        var writes: [[UInt8]] = []
        for number in 0..<25 {
            _ = try loop.complete { try await proxy.book(number) }
            loop.advance(by: .milliseconds(100))
            let contents = try #require(try ReplaceableFile(path).read(atMost: 1 << 20))
            if contents != writes.last { writes.append(contents) }
        }
        #expect(writes.count == 3)
        loop.advance(by: .seconds(1))
        let contents = try #require(try ReplaceableFile(path).read(atMost: 1 << 20))
        #expect(CacheFile.records(of: contents)?.count == 25)
    }

    @Test func `a result larger than the whole file is not kept, which the log says`() throws {
        var policy = CachePolicy(freshFor: .seconds(10))
        policy.maximumBytes = 26
        let (proxy, proxyCache) = launch(policy)
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        #expect(try loop.complete { await proxyCache.save() })
        #expect(try loop.complete { try await proxy.titles() } == ["titles", "1"])
        policy.maximumBytes = 20
        let (next, cache) = launch(policy)
        #expect(try loop.complete { try await next.titles() } == ["titles", "2"])
        #expect(try loop.complete { await cache.save() })
        #expect(try loop.complete { try await next.titles() } == ["titles", "3"])
        #expect(heard.all.count == 1)
        #expect(heard.all.first?.contains("maximumBytes") == true)
    }

    @Test func `a hit puts nothing into JSON, not even with a file; saving does`() throws {
        let cabinet = CountingCabinet()
        let policy = CachePolicy(freshFor: .seconds(100))
        let launch = {
            let cache = Cache.file(path)
            return (proxy: CabinetProxy(cabinet).cached(in: cache, methods: nil, policy, .manual(loop)), cache: cache)
        }
        let (proxy, cache) = launch()
        #expect(try loop.complete { try await proxy.look(Folder("a")).name } == "a1")
        #expect(try loop.complete { await cache.save() })
        let encodings = Folder.encodings
        for _ in 0..<10 { #expect(try loop.complete { try await proxy.look(Folder("a")).name } == "a1") }
        #expect(try loop.complete { await cache.save() })
        #expect(Folder.encodings == encodings)
        let next = launch().proxy
        #expect(try loop.complete { try await next.look(Folder("a")).name } == "a1")
        #expect(cabinet.looks == 1)
    }

    @Test func `what cannot be put into JSON is kept here, and the log says that the file has it not`() throws {
        var policy = CachePolicy(freshFor: .seconds(100))
        policy.log = heard.hear
        let drawer = WoodenDrawer()
        let cache = Cache.file(path)
        let proxy = DrawerProxy(drawer).cached(in: cache, methods: nil, policy, .manual(loop))
        for _ in 0..<3 { #expect(try loop.complete { try await proxy.top } == Opaque(7)) }
        #expect(try loop.complete { await cache.save() })
        #expect(drawer.looks == 1)
        #expect(heard.all == ["a result of Drawer.top cannot be put into JSON, so the next launch will not have it"])
    }

    @Test func `who saves need not wait for the pause`() throws {
        let (proxy, cache) = launch()
        for number in 0..<5 {
            _ = try loop.complete { try await proxy.book(number) }
            #expect(try loop.complete { await cache.save() })
            let contents = try #require(try ReplaceableFile(path).read(atMost: 1 << 20))
            #expect(CacheFile.records(of: contents)?.count == number + 1)
        }
        #expect(loop.now == Instant(nanoseconds: 0))
    }

    @Test func `what a crash has left unfinished is in nobody's way`() throws {
        for name in [path + ".new", path + ".lock"] { try ReplaceableFile(name).replace(with: [1, 2, 3]) }
        let (proxy, cache) = launch()
        _ = try loop.complete { try await proxy.titles() }
        #expect(try loop.complete { await cache.save() })
        #expect(heard.all.isEmpty)
    }

    @Test func `the time is looked at when nobody else can write, so that nothing seems to be from the future`() throws
    {
        var readings = 0
        let kept = CacheFile(path, report: heard.hear).write(CacheRecords(CachePolicy())) {
            readings += 1
            #expect(throws: SystemError.self) { try ReplaceableFile(path).locked(patience: .zero) {} }
            return 0
        }
        #expect(kept?.all.isEmpty == true)
        #expect(readings == 1)
    }

    @Test func `many writers at once leave a file that has everything`() async throws {
        let (writers, books) = (8, 5)
        var policy = CachePolicy(freshFor: .seconds(100))
        policy.pauseAfterWriting = .zero
        policy.log = heard.hear
        await withTaskGroup(of: Void.self) { [path, policy] group in
            for writer in 0..<writers {
                group.addTask {
                    let cache = Cache.file(path)
                    let proxy = ShelfProxy(CountingShelf(ManualLoop())).cached(in: cache, methods: [.book], policy)
                    for book in 0..<books {
                        _ = try? await proxy.book(writer * 100 + book)
                        // Once more where the disk is so slow that another has had the file for too long.
                        await until { await cache.save() }
                    }
                }
            }
        }
        #expect(heard.all.allSatisfy { $0.contains("cannot be written") })
        let contents = try #require(try ReplaceableFile(path).read(atMost: 1 << 20))
        #expect(Set(CacheFile.records(of: contents)?.map(\.name) ?? []).count == writers * books)
    }
}
