import Testing

@testable import RPCWire

struct UnreadBytesTests {
    private func piece(_ count: Int) -> Bytes { Bytes(String(repeating: "x", count: count)) }

    @Test(arguments: [(1, 256), (10, 320), (1_000, 32_000)])
    func `an announced frame gets room for so many times what has come of it, not for what was announced`(
        count: Int, room: Int
    ) {
        var unread = UnreadBytes()
        unread.append(piece(count))
        let isWhole = unread.has(16 << 20)
        #expect(!isWhole)
        let frame = unread.take(count)
        #expect(frame.count == count && frame.chunk.memory.count == room)
    }

    @Test func `a large frame is gathered in memory that is made at most twice`() {
        var unread = UnreadBytes()
        let length = 8 << 20
        var places: [UnsafeRawPointer?] = []
        for _ in 0..<length / (64 << 10) {
            unread.append(piece(64 << 10))
            if unread.has(length) { break }
            let place = unread.front.baseAddress
            if places.last != place { places.append(place) }
        }
        let frame = unread.take(length)
        #expect(places.count == 2 && frame.count == length && unread.isEmpty)
    }

    @Test func `a line, whose end nobody has announced, doubles its room`() {
        var unread = UnreadBytes()
        unread.append(piece(1_000))
        let lineFeed = unread.lineFeed(from: 0, of: 16 << 20)
        #expect(lineFeed == nil)
        let line = unread.take(1_000)
        #expect(line.count == 1_000 && line.chunk.memory.count == 2_000)
        #expect(unread.isEmpty)
    }

    @Test func `what comes behind a frame is not copied with it`() {
        var unread = UnreadBytes()
        unread.append(piece(10))
        let next = piece(50)
        let isWhole = unread.has(20)
        unread.append(next)
        let isWholeNow = unread.has(20)
        let frame = unread.take(20)
        #expect(!isWhole && isWholeNow && frame.count == 20)
        #expect(unread.front.baseAddress == next.memory.baseAddress.map { $0 + 10 } && unread.count == 40)
    }

    @Test func `lines are found across pieces`() {
        var unread = UnreadBytes()
        for text in ["ab", "c", "d\ne", "f\n"] { unread.append(Bytes(text)) }
        for line in ["abcd", "ef"] {
            let length = unread.lineFeed(from: 0, of: 100)
            let taken = unread.take(line.utf8.count)
            #expect(length == line.utf8.count && taken.description == line)
            unread.skip(1)
        }
        #expect(unread.isEmpty)
    }
}
