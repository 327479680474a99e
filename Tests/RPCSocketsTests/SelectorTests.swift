import RPCWire
import Testing

@testable import RPCSockets

struct SelectorTests {
    private func make(_ backend: EventLoop.Backend) throws -> any Selector {
        try EventLoop(name: "", backend: backend).selector
    }

    private func tags(_ selector: any Selector) -> Set<UInt64> {
        let count = selector.wait(.zero)
        return Set((0..<count).map { selector.event($0).tag })
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `only what is watched and ready is reported, under its latest tag`(backend: EventLoop.Backend) throws {
        let selector = try make(backend)
        let pairs = try (0..<5).map { _ in try Socket.pair() }
        for (number, pair) in pairs.enumerated() {
            try selector.add(pair.0.descriptor, .reading, tag: UInt64(number))
        }
        #expect(tags(selector) == [])
        for pair in pairs { pair.1.write("x") }
        #expect(tags(selector) == [0, 1, 2, 3, 4])
        selector.remove(pairs[1].0.descriptor)
        try selector.change(pairs[2].0.descriptor, [], tag: 2)
        try selector.change(pairs[4].0.descriptor, .writing, tag: 40)
        #expect(tags(selector) == [0, 3, 40])
        try selector.add(pairs[1].0.descriptor, [.reading, .writing], tag: 10)
        #expect(tags(selector) == [0, 3, 40, 10])
        #expect(throws: SystemError.self) { try selector.add(pairs[1].0.descriptor, .reading, tag: 11) }
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `a peer that is gone is reported although nobody is interested`(backend: EventLoop.Backend) throws {
        let selector = try make(backend)
        let (near, far) = try Socket.pair()
        try selector.add(near.descriptor, [], tag: 7)
        far.close()
        #expect(selector.wait(.seconds(10)) == 1)
        #expect(selector.event(0).readiness.contains(.hungUp))
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `a wake-up before the wait ends it, once`(backend: EventLoop.Backend) throws {
        let selector = try make(backend)
        selector.wake()
        selector.wake()
        // For ever, but for the wake-up.
        _ = selector.wait(nil)
        let between = MonotonicClock.now
        _ = selector.wait(.milliseconds(10))
        #expect(between.duration(to: MonotonicClock.now) >= .milliseconds(10))
    }

    @Test func `waiting is rounded up, so that no timer comes early`() {
        #expect(Poll.milliseconds(nil) == -1)
        #expect(Poll.milliseconds(0) == 0)
        #expect(Poll.milliseconds(-1_000_000_000) == 0)
        #expect(Poll.milliseconds(1) == 1)
        #expect(Poll.milliseconds(1_000_000) == 1)
        #expect(Poll.milliseconds(1_000_001) == 2)
        #expect(Poll.milliseconds(.max) == .max)
    }
}

struct ResolverTests {
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
