import Testing

@testable import RPCWire

struct PartialFrameTests {
    private func piece(_ count: Int) -> Bytes { Bytes(String(repeating: "x", count: count)) }

    @Test(arguments: [(1, 256), (10, 320), (1_000, 32_000)])
    func `an announced frame gets room for so many times what has come of it, not for what was announced`(
        count: Int, room: Int
    ) {
        var partial = PartialFrame()
        partial.append(piece(count), of: 16 << 20, isAnnounced: true)
        let frame = partial.finish()
        #expect(frame?.count == count && frame?.chunk.memory.count == room)
    }

    @Test func `a large frame is gathered in memory that is made at most twice`() {
        var partial = PartialFrame()
        let length = 8 << 20
        var places: [UnsafeMutableRawPointer?] = []
        for _ in 0..<length / (64 << 10) {
            partial.append(piece(64 << 10), of: length, isAnnounced: true)
            var copy = partial
            let place = copy.finish()?.chunk.memory.baseAddress
            if places.last != place { places.append(place) }
        }
        let frame = partial.finish()
        #expect(places.count == 2 && frame?.count == length)
    }

    @Test func `a line, whose end nobody has announced, doubles its room`() {
        var partial = PartialFrame()
        partial.append(piece(1_000), of: 16 << 20)
        let line = partial.finish()
        #expect(line?.count == 1_000 && line?.chunk.memory.count == 2_000)
        let rest = partial.finish()
        #expect(partial.isEmpty && rest == nil)
    }
}
