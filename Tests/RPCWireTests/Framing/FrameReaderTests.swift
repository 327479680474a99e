import RPCWire
import TestSupport
import Testing

@Suite(.computesForLong) struct FrameReaderTests {
    static let messages = (0..<200).map { number in
        let text = String(repeating: "é{\\n", count: number % 17)
        return #"{"jsonrpc":"2.0","method":"m","params":["\#(text)"],"id":\#(number)}"#
    }

    @Test(arguments: allFramings)
    func `a stream cut at every byte gives the same frames`(framing: Framing) {
        let stream = framed(Self.messages, framing)
        #expect(cut([stream]) == Cut(frames: Self.messages))
        // Nothing outlives a frame, so each cut is tried in a stream of two messages.
        for pair in zip(Self.messages, Self.messages.dropFirst()) {
            let stream = framed([pair.0, pair.1], framing)
            for position in 0...stream.count - pair.1.utf8.count {
                #expect(cut([stream[..<position], stream[position...]]) == Cut(frames: [pair.0, pair.1]))
            }
        }
    }

    @Test(arguments: allFramings, 1...7)
    func `a stream in small pieces gives the same frames`(framing: Framing, size: Int) {
        #expect(cut(framed(Self.messages, framing).pieces(of: size)) == Cut(frames: Self.messages))
    }

    @Test(arguments: allFramings)
    func `pieces may wait in the decoder until someone asks`(framing: Framing) throws {
        var decoder = FrameReader()
        for piece in framed(Self.messages, framing).pieces(of: 5) { decoder.append(bytes(piece)) }
        for message in Self.messages { #expect(try decoder.nextMessage()?.description == message) }
        #expect(try decoder.nextMessage() == nil)
    }

    @Test(arguments: allFramings)
    func `100,000 messages in one piece come out one by one`(framing: Framing) throws {
        var decoder = FrameReader()
        decoder.append(bytes(framed(repeatElement("{}", count: 100_000), framing)))
        var count = 0
        while let frame = try decoder.nextMessage(), frame.count == 2 { count += 1 }
        #expect(count == 100_000)
    }

    @Test(arguments: allFramings)
    func `a frame inside one chunk is a view of that chunk`(framing: Framing) throws {
        var decoder = FrameReader()
        let chunk = bytes(framed(["[1]", "[2]"], framing))
        decoder.append(chunk)
        for _ in 1...2 {
            let frame = try #require(try decoder.nextMessage())
            let isView = chunk.withUnsafeBytes { chunk in
                frame.withUnsafeBytes { frame in
                    guard let start = frame.baseAddress, let from = chunk.baseAddress else { return false }
                    return start >= from && start < from + chunk.count
                }
            }
            #expect(isView)
        }
    }

    @Test(arguments: allFramings)
    func `a copy of a decoder goes its own way`(framing: Framing) throws {
        let stream = framed(["[11111]"], framing)
        var first = FrameReader(framing.framer)
        first.append(bytes(stream[..<(stream.count - 4)]))
        #expect(try first.nextMessage() == nil)
        var second = first
        first.append(bytes(stream[(stream.count - 4)...]))
        second.append(bytes(framed(["[22222]"], framing)[(stream.count - 4)...]))
        #expect(try first.nextMessage()?.description == "[11111]")
        #expect(try second.nextMessage()?.description == (framing == .lines ? "[11122]" : "[11222]"))
    }

    @Test(arguments: [
        (Framing.lengthPrefixed, "\0\0\0\0"), (.lines, "\n"), (.lines, " \t\r\n"),
        (.headers, "Content-Length: 0\r\n\r\n"),
    ])
    func `a frame in which nothing stands comes out empty, so that it can be counted`(
        framing: Framing, text: String
    ) throws {
        var decoder = FrameReader(framing.framer)
        decoder.append(bytes(Array(String(repeating: text, count: 3).utf8)))
        for _ in 0..<3 { #expect(try decoder.nextMessage()?.isEmpty == true) }
        #expect(try decoder.nextMessage() == nil)
        #expect(decoder.count == 3)
    }

    @Test func `what stands between empty frames and blank lines is found`() {
        let prefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 2, 0x5B, 0x5D, 0, 0, 0, 0]
        for size in 1...prefix.count { #expect(cut(prefix.pieces(of: size)) == Cut(frames: ["[]"])) }
        let lines = Array("\n\r\n \t\n[1]  \r\n\r\n\n {}\n \r\n[2]\r\n".utf8)
        for size in 1...lines.count { #expect(cut(lines.pieces(of: size)) == Cut(frames: ["[1]  ", " {}", "[2]"])) }
        #expect(cut("Content-Length: 0\r\n\r\nContent-Length: 2\r\n\r\n{}") == Cut(frames: ["{}"]))
    }

    @Test func `a framing that is known beforehand is not guessed`() {
        #expect(cut(" 5\nhello\n", framing: .lines) == Cut(frames: [" 5", "hello"]))
        #expect(
            cut([[1, 0, 0, 1]], framing: .lengthPrefixed).error == .frameTooLarge(length: 1 << 24 | 1, limit: 1 << 24))
        #expect(cut("POST / HTTP/1.1\r\n", framing: .headers).error == .http)
    }

    @Test func `a later frame of 16 MiB may begin with any byte`() throws {
        var decoder = FrameReader(limits: FrameLimits(maximumFrameSize: 1 << 25))
        decoder.append(bytes([0, 0, 0, 2, 0x7B, 0x7D, 1, 0, 0, 0]))
        #expect(try decoder.nextMessage()?.description == "{}")
        let half = Bytes(ByteChunk(capacity: 1 << 23), 0..<1 << 23)
        decoder.append(half)
        #expect(try decoder.nextMessage() == nil)
        decoder.append(half)
        #expect(try decoder.nextMessage()?.count == 1 << 24)
    }

    @Test func `the end of the stream completes a last line that was not asked for before`() throws {
        var decoder = FrameReader()
        decoder.append(bytes(" {}".utf8))
        decoder.end()
        #expect(try decoder.nextMessage()?.description == "{}")
        #expect(try decoder.nextMessage() == nil)
    }
}
