// Each channel is looked at when it is due, on a manual clock, and not at all when it has ended.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Channels that are due` {
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
            let context = LinkContext(
                runner: runner, exports: Exports(), settings: Shared(settings), sessions: SessionTable())
            let link = Link(context)
            loop.submit { link.open(FramedChannel(near, for: link), number: number) }
            return far
        }
        loop.run()
        return streams
    }

    private var ended: Int { traffic.rareEvents.overruns[.firstByteTime] ?? 0 }

    @Test func `each is looked at in its own time, whichever has ended before`() {
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

    @Test func `no timer is left when the last has ended, and the next has one again`() {
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
