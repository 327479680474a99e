import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct EpollTests {
    private func make() throws -> Epoll {
        let epoll = Epoll()
        try epoll.open()
        return epoll
    }

    private func tags(_ epoll: Epoll) -> Set<UInt64> {
        let count = epoll.wait(nanoseconds: 0)
        return Set((0..<count).map { epoll.event($0).tag })
    }

    @Test func `only what is watched and ready is reported, under its latest tag`() throws {
        let epoll = try make()
        let pairs = try (0..<5).map { _ in try Socket.pair() }
        for (number, pair) in pairs.enumerated() {
            try epoll.add(pair.0.descriptor, .reading, tag: UInt64(number))
        }
        #expect(tags(epoll) == [])
        for pair in pairs { pair.1.write("x") }
        #expect(tags(epoll) == [0, 1, 2, 3, 4])
        epoll.remove(pairs[1].0.descriptor)
        try epoll.change(pairs[2].0.descriptor, [], tag: 2)
        try epoll.change(pairs[4].0.descriptor, .writing, tag: 40)
        #expect(tags(epoll) == [0, 3, 40])
        try epoll.add(pairs[1].0.descriptor, [.reading, .writing], tag: 10)
        #expect(tags(epoll) == [0, 3, 40, 10])
        #expect(throws: SystemError.self) { try epoll.add(pairs[1].0.descriptor, .reading, tag: 11) }
    }

    @Test func `a peer that is gone is reported although nobody is interested`() throws {
        let epoll = try make()
        let (near, far) = try Socket.pair()
        try epoll.add(near.descriptor, [], tag: 7)
        far.close()
        #expect(epoll.wait(nanoseconds: 10_000_000_000) == 1)
        #expect(epoll.event(0).readiness.isHungUp)
    }

    @Test func `a wake-up before the wait ends it, once`() throws {
        let epoll = try make()
        epoll.wake()
        epoll.wake()
        // For ever, but for the wake-up.
        _ = epoll.wait(nanoseconds: nil)
        let between = MonotonicClock.now
        _ = epoll.wait(nanoseconds: 10_000_000)
        #expect(between.duration(to: MonotonicClock.now) >= .milliseconds(10))
    }

    @Test func `waiting is rounded up, so that no timer comes early`() {
        #expect(Epoll.milliseconds(nil) == -1)
        #expect(Epoll.milliseconds(0) == 0)
        #expect(Epoll.milliseconds(-1_000_000_000) == 0)
        #expect(Epoll.milliseconds(1) == 1)
        #expect(Epoll.milliseconds(1_000_000) == 1)
        #expect(Epoll.milliseconds(1_000_001) == 2)
        #expect(Epoll.milliseconds(.max) == .max)
    }
}

@Suite(.waitsForOthers) struct ResolverTests {
    @Test func `more questions than threads are all answered`() async throws {
        try await withLoop { loop in
            let resolver = Resolver(atMost: 1)
            let answers = Diary<Bool>()
            await withCheckedContinuation { continuation in
                for _ in 0..<20 {
                    resolver.resolve(.tcp(host: "localhost", port: 80), on: loop) { result in
                        answers.note(((try? result.get()) ?? []).isEmpty)
                        if answers.all.count == 20 { continuation.resume() }
                    }
                }
            }
            #expect(!answers.all.contains(true))
        }
    }
}
