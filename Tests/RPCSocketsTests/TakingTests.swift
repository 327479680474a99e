// What a spinning loop takes at one stream without asking whether it is ready, and what it must leave there.

import RPCWire
import Synchronization
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct `A look at one stream` {
    private static let start = Instant(nanoseconds: SpinPolicy.longestNeglect * SpinPolicy.silencePerNeglect)

    /// A loop that spins, and never by itself: what is done to it is done in one piece of work.
    private func withPairs(
        _ backend: EventLoop.Backend, _ body: @escaping @Sendable (EventLoop, StreamPair, StreamPair) -> Void
    ) async throws {
        let loop = try EventLoop(name: "spinning", backend: backend)
        defer { loop.shutdown() }
        let (first, second) = (try StreamPair(on: loop), try StreamPair(on: loop))
        await loop.perform {
            // Also with one processor.
            loop.state.maySpin = true
            guard let tag = first.far.state.registration?.tag else {
                Issue.record("not open")
                return
            }
            loop.state.spin = SpinPolicy()
            for _ in 0..<20 { loop.state.spin.came(from: tag) }
            // For so long that nothing else is expected.
            loop.state.spin.lookedEverywhere(at: Instant(nanoseconds: 0))
            loop.state.spin.lookedEverywhere(at: Self.start)
            body(loop, first, second)
        }
    }

    private static func write(_ text: String, to pair: StreamPair) {
        pair.near.append(text)
        pair.near.writeQueued()
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `takes what has come there, and nothing where nothing has`(backend: EventLoop.Backend) async throws {
        try await withPairs(backend) { loop, first, _ in
            #expect(!loop.look(at: Self.start))
            for number in 1...3 {
                Self.write("\(number)", to: first)
                #expect(loop.look(at: Self.start))
                #expect(!loop.look(at: Self.start))
            }
            #expect(first.farReceiver.text == "1\n2\n3\n")
        }
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `leaves the others to the next look at all`(backend: EventLoop.Backend) async throws {
        try await withPairs(backend) { loop, first, second in
            Self.write("first", to: first)
            Self.write("second", to: second)
            #expect(loop.look(at: Self.start))
            #expect(!loop.look(at: Self.start))
            #expect(second.farReceiver.text == "")
            #expect(loop.look(at: Self.start.advanced(byNanoseconds: SpinPolicy.longestNeglect)))
            #expect(second.farReceiver.text == "second\n")
        }
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `takes nothing that is not wanted now`(backend: EventLoop.Backend) async throws {
        try await withPairs(backend) { loop, first, _ in
            first.far.setInterest([])
            Self.write("later", to: first)
            #expect(!loop.look(at: Self.start))
            first.far.resumeReading()
            #expect(loop.look(at: Self.start))
            #expect(first.farReceiver.text == "later\n")
        }
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `does not speak for spinning if it is the first one`(backend: EventLoop.Backend) async throws {
        try await withPairs(backend) { loop, first, _ in
            for _ in 0..<8 { loop.state.spin.slept(nanoseconds: 20_000) }
            for _ in 0..<15 { loop.state.spin.spun(for: SpinPolicy().time, hasFound: false) }
            for _ in 0..<10 {
                Self.write("there", to: first)
                loop.receive()
            }
            #expect(first.farReceiver.text == String(repeating: "there\n", count: 10))
            // Copied first: `#expect` keeps what it shows beyond the end of an access, where the compiler has freed it.
            var spin = loop.state.spin
            #expect(spin.isWorthwhile)
            spin.spun(for: SpinPolicy().time, hasFound: false)
            #expect(!spin.isWorthwhile)
        }
    }

    @Test(arguments: [true, false])
    func `finds no time that was known before it`(spins: Bool) async throws {
        let loop = try EventLoop(name: "spinning")
        defer { loop.shutdown() }
        let (near, far) = try Socket.pair()
        let times = Lock<[Instant]>([])
        let sender = SocketChannel(near, on: loop, remoteAddress: "far")
        let reader = SocketChannel(far, on: loop, remoteAddress: "near")
        sender.open(RecordingReceiver(on: loop))
        reader.open(RecordingReceiver(on: loop) { [loop] _ in times.withLock { $0.append(loop.now) } })
        await loop.perform {
            loop.state.maySpin = spins
            sender.append("there")
            sender.writeQueued()
            loop.state.time = Self.start
            let before = MonotonicClock.now
            loop.receive()
            #expect(times.withLock { $0.count == 1 && $0[0] >= before })
        }
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `sees the end, once`(backend: EventLoop.Backend) async throws {
        let loop = try EventLoop(name: "spinning", backend: backend)
        defer { loop.shutdown() }
        let pair = try StreamPair(on: loop)
        await loop.perform {
            pair.near.socket.shutdownSending()
            #expect(pair.far.take())
            #expect(!pair.far.take())
        }
        #expect(await pair.farReceiver.waitForEnd() == .remote)
        await loop.perform { #expect(!pair.far.take()) }
    }

    @Test(arguments: EventLoop.Backend.allCases)
    func `finds nobody where a stream was`(backend: EventLoop.Backend) async throws {
        try await withPairs(backend) { loop, first, second in
            first.far.abort()
            first.far.close()
            Self.write("second", to: second)
            #expect(loop.look(at: Self.start))
            #expect(second.farReceiver.text == "second\n")
        }
    }
}
