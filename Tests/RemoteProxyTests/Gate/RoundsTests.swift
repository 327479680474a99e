// One look at all connections of a loop that are due, and none at the others, on a manual clock.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Rounds of a loop` {
    private let loop = ManualLoop()
    private let traffic = Traffic(loops: 1, maximumRequests: 100)
    private let runner: RequestRunner

    init() { runner = RequestRunner(loop: loop) }

    /// Connections that say nothing, and so are due ten seconds after they were opened.
    private func open(_ count: Int = 1) -> [MemoryChannel] {
        var settings = LinkSettings()
        settings.traffic = traffic
        let streams = (0..<count).map { number in
            let (near, far) = MemoryChannel.pair(on: loop)
            let peer = Requester(runner: runner, exports: Exports(), settings: settings)
            let connection = Connection(
                near, number: number, peer: peer, role: .accepted(SessionTable()), events: Connection.Events())
            loop.submit { connection.open() }
            return far
        }
        loop.run()
        return streams
    }

    private var ended: Int { traffic.rareEvents.overruns[.firstByteTime] ?? 0 }

    @Test func `all who are due together are looked at together`() {
        let streams = open(1_000)
        let seen = Lock<Set<Int>>([])
        loop.afterEachStep { [traffic] in
            let ended = traffic.rareEvents.overruns[.firstByteTime] ?? 0
            seen.withLock { _ = $0.insert(ended) }
        }
        loop.advance(by: .seconds(9))
        #expect(ended == 0 && loop.nextDeadline == Instant(nanoseconds: 10_000_000_000))
        loop.advance(by: .seconds(1))
        // There is nothing before, and it is one thing.
        #expect(seen.withLock { $0 } == [1_000])
        withExtendedLifetime(streams) {}
    }

    @Test func `each is looked at in its own time, whoever has left before`() {
        var streams: [MemoryChannel] = []
        for _ in 0..<5 {
            streams += open()
            loop.advance(by: .seconds(1))
        }
        streams[0].abort()
        streams[3].abort()
        // Moments are put off to common ones, by less than that.
        loop.advance(by: .milliseconds(500))
        var counts: [Int] = []
        for _ in 5..<15 {
            loop.advance(by: .seconds(1))
            counts.append(ended)
        }
        #expect(counts == [0, 0, 0, 0, 0, 1, 2, 2, 3, 3])
    }

    @Test func `the rounds end with the last connection, and begin again with the next`() {
        for _ in 0..<2 {
            for stream in open(3) { stream.abort() }
            loop.run()
            #expect(loop.nextDeadline == nil)
        }
        let stream = open()[0]
        loop.advance(by: .seconds(10))
        #expect(ended == 1)
        stream.abort()
    }
}
