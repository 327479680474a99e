import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

/// The pollers that the system of the tests has.
enum PollerKind: CaseIterable {
    case poll
    #if os(Linux)
        case epoll
    #endif
    #if canImport(Darwin) || os(FreeBSD) || KQUEUE
        case kqueue
    #endif

    func make() -> any Poller {
        switch self {
        case .poll: Poll()
        #if os(Linux)
            case .epoll: Epoll()
        #endif
        #if canImport(Darwin) || os(FreeBSD) || KQUEUE
            case .kqueue: Kqueue()
        #endif
        }
    }
}

@Suite(.waitsForOthers) struct PollerTests {
    private func make(_ kind: PollerKind) throws -> any Poller {
        let poller = kind.make()
        try poller.open()
        return poller
    }

    private func events(_ poller: any Poller) -> [UInt64: Readiness] {
        let count = poller.wait(nanoseconds: 0)
        return (0..<count).reduce(into: [:]) { events, index in
            let event = poller.event(index)
            events[event.tag, default: []].formUnion(event.readiness)
        }
    }

    @Test(arguments: PollerKind.allCases)
    func `only what is watched and ready is reported, under its latest tag`(_ kind: PollerKind) throws {
        let poller = try make(kind)
        func tags() -> Set<UInt64> { Set(events(poller).keys) }
        let pairs = try (0..<5).map { _ in try Socket.pair() }
        for (number, pair) in pairs.enumerated() {
            try poller.add(pair.0.descriptor, .reading, tag: UInt64(number))
        }
        #expect(tags() == [])
        for pair in pairs { pair.1.write("x") }
        #expect(tags() == [0, 1, 2, 3, 4])
        poller.remove(pairs[1].0.descriptor)
        try poller.change(pairs[2].0.descriptor, [], tag: 2)
        try poller.change(pairs[4].0.descriptor, .writing, tag: 40)
        #expect(tags() == [0, 3, 40])
        try poller.add(pairs[1].0.descriptor, [.reading, .writing], tag: 10)
        #expect(tags() == [0, 3, 40, 10])
        #expect(throws: SystemError.self) { try poller.add(pairs[1].0.descriptor, .reading, tag: 11) }
        #expect(tags() == [0, 3, 40, 10], "what is not read stays ready")
        for pair in pairs { poller.remove(pair.0.descriptor) }
        #expect(tags() == [])
    }

    @Test(arguments: PollerKind.allCases)
    func `reading, writing and both are told apart`(_ kind: PollerKind) throws {
        let poller = try make(kind)
        let (near, far) = try Socket.pair()
        try poller.add(near.descriptor, [.reading, .writing], tag: 1)
        #expect(events(poller) == [1: .writing])
        far.write("x")
        #expect(events(poller) == [1: [.reading, .writing]])
        try poller.change(near.descriptor, .reading, tag: 1)
        #expect(events(poller) == [1: .reading])
        _ = withUnsafeTemporaryAllocation(byteCount: 8, alignment: 1) { near.receive($0) }
        #expect(events(poller) == [:])
        try poller.change(near.descriptor, .writing, tag: 1)
        #expect(events(poller) == [1: .writing])
        let block = [UInt8](repeating: 1, count: 1 << 16)
        while case .bytes = block.withUnsafeBytes({ near.send($0) }) {}
        #expect(events(poller) == [:])
    }

    @Test(arguments: PollerKind.allCases)
    func `a peer that is gone is reported in each wait, although neither direction is watched`(
        _ kind: PollerKind
    ) throws {
        let poller = try make(kind)
        let (near, far) = try Socket.pair()
        try poller.add(near.descriptor, [], tag: 7)
        #expect(events(poller) == [:])
        far.write("unread")
        #expect(events(poller) == [:])
        far.close()
        for _ in 0..<3 {
            #expect(poller.wait(nanoseconds: 10_000_000_000) == 1)
            #expect(poller.event(0).tag == 7 && poller.event(0).readiness.isHungUp)
        }
        // Also if it was gone before.
        try poller.change(near.descriptor, .reading, tag: 8)
        #expect(events(poller)[8]?.contains(.reading) == true)
        try poller.change(near.descriptor, [], tag: 9)
        for _ in 0..<3 { #expect(events(poller)[9]?.isHungUp == true) }
    }

    @Test(arguments: PollerKind.allCases)
    func `the end of one direction can be read, and is no hang-up`(_ kind: PollerKind) throws {
        let poller = try make(kind)
        let (near, far) = try Socket.pair()
        try poller.add(near.descriptor, .reading, tag: 1)
        far.shutdownSending()
        #expect(events(poller)[1]?.contains(.reading) == true)
        #expect(events(poller)[1]?.isHungUp == false)
        try poller.change(near.descriptor, [], tag: 1)
        #expect(events(poller) == [:])
        far.close()
        #expect(poller.wait(nanoseconds: 10_000_000_000) == 1)
        #expect(poller.event(0).readiness.isHungUp)
    }

    @Test(arguments: PollerKind.allCases)
    func `a number that is used again has only the events of its new descriptor`(_ kind: PollerKind) throws {
        let poller = try make(kind)
        let (near, far) = try Socket.pair()
        try poller.add(near.descriptor, .reading, tag: 1)
        far.write("x")
        #expect(events(poller) == [1: .reading])
        poller.remove(near.descriptor)
        poller.remove(near.descriptor)
        try poller.add(near.descriptor, [], tag: 2)
        #expect(events(poller) == [:])
        #expect(throws: SystemError.self) { try poller.change(far.descriptor, .reading, tag: 3) }
    }

    @Test(arguments: PollerKind.allCases)
    func `a wake-up before the wait ends it, once`(_ kind: PollerKind) throws {
        let poller = try make(kind)
        poller.wake()
        poller.wake()
        // For ever, but for the wake-up.
        _ = poller.wait(nanoseconds: nil)
        let between = MonotonicClock.now
        _ = poller.wait(nanoseconds: 10_000_000)
        #expect(between.duration(to: MonotonicClock.now) >= .milliseconds(10))
    }

    @Test(arguments: PollerKind.allCases)
    func `a wait whose time is over ends`(_ kind: PollerKind) throws {
        let poller = try make(kind)
        for nanoseconds: Int64 in [0, 1, -1, -1_000_000, .min] { #expect(poller.wait(nanoseconds: nanoseconds) == 0) }
        poller.wake()
        _ = poller.wait(nanoseconds: .max)
    }

    @Test(arguments: PollerKind.allCases)
    func `any thread ends a wait`(_ kind: PollerKind) throws {
        // Safe: `wake` is for all threads.
        nonisolated(unsafe) let poller = try make(kind)
        for _ in 0..<100 {
            try SystemThread.start(name: "waker") { poller.wake() }
            _ = poller.wait(nanoseconds: nil)
        }
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
