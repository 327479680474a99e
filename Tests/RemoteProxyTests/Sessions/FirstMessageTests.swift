import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

struct FirstMessageTests {
    /// Too long for its length to begin with 0x00, which tells the framing.
    private let long = Bytes(String(repeating: "[", count: 1 << 24))

    private let loop = ManualLoop()
    private var link: Link { Link(LinkContext(runner: RequestRunner(loop: loop), exports: Exports())) }

    @Test func `an end that has dialled tells the framing before a long message, once`() {
        let (near, _) = MemoryChannel.pair(on: loop)
        let channel = FramedChannel(near, for: link, Framing.lengthPrefixed.framer)
        #expect(channel.append(.shared(long)) == 0)
        let frame = UInt64(4 + long.count)
        #expect(channel.append(.copied(long.memory)) == 4 + frame)
        #expect(channel.append(.copied(long.memory)) == 4 + 2 * frame)
    }

    @Test func `an end that was dialled has been told the framing`() {
        let (near, _) = MemoryChannel.pair(on: loop)
        let link = link
        let channel = FramedChannel(near, for: link)
        loop.pretend {
            link.open(channel, number: 1)
            channel.received(Bytes("\0\0\0\u{02}[]"))
        }
        // The refusal of the empty batch.
        let sent = channel.append(.copied(long.memory))
        #expect(channel.append(.shared(long)) == sent + UInt64(4 + long.count))
    }
}
