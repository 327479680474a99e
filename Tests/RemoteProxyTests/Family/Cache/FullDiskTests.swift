// A cache file on a disk that is full.

import Foundation
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Full disks` {
    @Test(.enabled(if: SmallDisk.isPossible, "a small disk can only be had by who may mount one"))
    func `with the disk full calls go on, the last good file stays, and later all is written`() throws {
        let disk = try #require(SmallDisk())
        let (loop, heard) = (ManualLoop(), Heard())
        let shelf = CountingShelf(loop)
        var policy = CachePolicy(freshFor: .seconds(100))
        policy.log = heard.hear
        let launch = { [policy] in
            let cache = Cache.file(disk.path + "/shelf.cache")
            return (
                proxy: ShelfProxy(shelf).cached(in: cache, methods: [.book], policy, .manual(loop)), cache: cache
            )
        }
        let (proxy, cache) = launch()
        _ = try loop.complete { try await proxy.book(1) }
        #expect(try loop.complete { await cache.save() })
        disk.fill()
        #expect(try loop.complete { try await proxy.book(2) } == "book 2, 2")
        #expect(try loop.complete { await cache.save() } == false)
        #expect(heard.all.count == 1)
        #expect(heard.all.first?.contains("ENOSPC") == true)
        let next = launch().proxy
        #expect(try loop.complete { try await next.book(1) } == "book 1, 1")
        disk.empty()
        #expect(try loop.complete { await cache.save() })
        let last = launch().proxy
        #expect(try loop.complete { try await last.book(2) } == "book 2, 2")
        #expect(shelf.calls == 2)
    }
}

@Suite struct `Limits on the size of files` {
    /// In a process of its own, because the limit is the whole process's.
    @Test func `beyond the limit calls go on and the log says why, and the signal still means what it did`() async {
        await #expect(processExitsWith: .success) {
            let (loop, heard, folder) = (ManualLoop(), Heard(), TemporaryFolder())
            let shelf = CountingShelf(loop)
            var policy = CachePolicy(freshFor: .seconds(100))
            policy.log = heard.hear
            let cache = Cache.file(folder.path + "/shelf.cache")
            let proxy = ShelfProxy(shelf).cached(in: cache, methods: [.book], policy, .manual(loop))
            // Threads of Swift's own pool block all signals; those on which caches write do not.
            var ending = sigset_t()
            sigaddset(&ending, SIGXFSZ)
            pthread_sigmask(SIG_UNBLOCK, &ending, nil)
            var limits = rlimit(rlim_cur: 16, rlim_max: rlim_t.max)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits) == 0)
            #expect(try loop.complete { try await proxy.book(1) } == "book 1, 1")
            #expect(try loop.complete { await cache.save() } == false)
            #expect(heard.all.count == 1)
            #expect(heard.all.first?.contains("EFBIG") == true && heard.all.first?.contains("ulimit -f") == true)
            limits.rlim_cur = rlim_t.max
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits) == 0)
            #expect(try loop.complete { await cache.save() })
            var (action, blocked) = (sigaction(), sigset_t())
            sigaction(SIGXFSZ, nil, &action)
            pthread_sigmask(SIG_BLOCK, nil, &blocked)
            #expect(action.__sigaction_handler.sa_handler == nil && sigismember(&blocked, SIGXFSZ) == 0)
        }
    }
}

/// A file system of 64 KiB.
private final class SmallDisk: Sendable {
    let path: String
    private let folder = TemporaryFolder()

    static var isPossible: Bool { SmallDisk() != nil }

    init?() {
        path = folder.path + "/disk"
        guard mkdir(path, 0o700) == 0 else { return nil }
        guard mount("none", path, "tmpfs", 0, "size=64k") == 0 else {
            rmdir(path)
            return nil
        }
    }

    deinit {
        umount2(path, Int32(MNT_DETACH))
        rmdir(path)
    }

    func fill() {
        guard let file = fopen(path + "/filler", "w") else { return }
        defer { fclose(file) }
        for _ in 0..<70_000 { fputc(0x20, file) }
    }

    func empty() { unlink(path + "/filler") }
}
