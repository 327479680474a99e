import RPCWire
import Testing

struct FrameLimitTests {
    static let limits = FrameLimits(maximumFrameSize: 100, maximumHeaderBlock: 60, maximumHeaderLines: 3)

    static func text(_ count: Int) -> String { "[" + String(repeating: " ", count: max(count - 1, 0)) }

    @Test(arguments: allFramings, [1, 2, 99, 100, 101, 102, 1_000])
    func `a frame may reach the limit and not pass it`(framing: Framing, count: Int) {
        let stream = framed([Self.text(count)], framing)
        for size in [1, 3, stream.count] {
            let result = cut(stream.pieces(of: size), limits: Self.limits)
            if count <= 100 {
                #expect(result == Cut(frames: [Self.text(count)]))
            } else {
                // The same answer however the bytes are cut: of a line, whose end may not have come, without its length.
                let length = framing == .lines ? nil : count
                #expect(result == Cut(error: .frameTooLarge(length: length, limit: 100)))
            }
        }
    }

    @Test(arguments: [0, 1, 16_777_215, 16_777_216, 16_777_217, 1 << 31 - 1, 1 << 31, 1 << 31 + 1, 1 << 32 - 1])
    func `an announced length is judged before anything is kept for it`(length: Int) {
        let prefix = (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) }
        let tooLarge: FramingError? = length > 1 << 24 ? .frameTooLarge(length: length, limit: 1 << 24) : nil
        #expect(cut([prefix], framing: .lengthPrefixed) == Cut(error: tooLarge))
        // The block need not be over for its length to be refused.
        #expect(cut("Content-Length: \(length)\r\n") == Cut(error: tooLarge))
    }

    @Test func `the longest Content-Length that has ten digits is refused as too large`() {
        let error = FramingError.frameTooLarge(length: 9_999_999_999, limit: 1 << 24)
        #expect(cut("Content-Length: 9999999999\r\n") == Cut(error: error))
    }

    @Test func `a line that never ends is refused as soon as it is over the limit`() {
        let limit = Self.limits.maximumFrameSize
        #expect(cut(Self.text(limit), limits: Self.limits) == Cut())
        #expect(cut(Self.text(limit) + "\r", limits: Self.limits) == Cut())
        #expect(cut(Self.text(limit) + "\r\n", limits: Self.limits) == Cut(frames: [Self.text(limit)]))
        for text in [Self.text(limit + 1), Self.text(limit) + "\r\r"] {
            for size in [1, text.utf8.count] {
                let result = cut(Array(text.utf8).pieces(of: size), limits: Self.limits)
                #expect(result == Cut(error: .frameTooLarge(length: nil, limit: limit)))
            }
        }
    }

    @Test func `a header block is limited in bytes and in lines`() {
        let block = "Content-Length: 2\r\nContent-Type: \(String(repeating: "x", count: 23))\r\n\r\n"
        #expect(block.utf8.count == 60)
        #expect(cut(block + "{}", limits: Self.limits) == Cut(frames: ["{}"]))
        for text in [block.replacing("xx", with: "xxx", maxReplacements: 1), "C" + String(repeating: "x", count: 60)] {
            for size in [1, text.utf8.count] {
                let result = cut(Array(text.utf8).pieces(of: size), limits: Self.limits)
                #expect(result == Cut(error: .headerBlockTooLarge(limit: 60)))
            }
        }
        // Lines that fill the block are over no limit before more comes.
        let full = block.replacing("\r\n\r\n", with: "xx\r\n")
        #expect(cut(full, limits: Self.limits) == Cut())
        #expect(cut(full + "\r", limits: Self.limits) == Cut(error: .headerBlockTooLarge(limit: 60)))
        let lines = String(repeating: "Content-Type:\r\n", count: 4)
        #expect(cut(lines, limits: Self.limits) == Cut(error: .tooManyHeaderLines(limit: 3)))
    }

    @Test func `a limit may be raised while the stream goes on`() throws {
        var decoder = FrameReader(limits: FrameLimits(maximumFrameSize: 2))
        decoder.append(bytes("{}\n{ }\n".utf8))
        #expect(try decoder.nextMessage()?.description == "{}")
        decoder.limits.maximumFrameSize = 3
        #expect(try decoder.nextMessage()?.description == "{ }")
    }

    @Test(arguments: allFramings, [0, -1, Int.max])
    func `no limit is so strange that it traps`(framing: Framing, limit: Int) {
        let limits = FrameLimits(maximumFrameSize: limit, maximumHeaderBlock: limit, maximumHeaderLines: limit)
        let result = cut(framed(["{}"], framing).pieces(of: 3), limits: limits)
        #expect(result.frames == (limit == .max ? ["{}"] : []))
        #expect((result.error == nil) == (limit == .max))
    }

    @Test func `after an error the decoder is finished`() throws {
        var decoder = FrameReader()
        decoder.append(bytes("GET".utf8))
        for _ in 1...3 {
            #expect(throws: FramingError.http) { try decoder.nextMessage() }
            decoder.append(bytes("{}\n".utf8))
        }
    }

    static let texts: [(FramingError, Int, String)] = [
        (.frameTooLarge(length: 7, limit: 5), -32007, "a message of 7 bytes is over the limit of 5 (maximumFrameSize)"),
        (.frameTooLarge(length: nil, limit: 5), -32007, "a line is over the limit of 5 bytes (maximumFrameSize)"),
        (.headerBlockTooLarge(limit: 6), -32700, "a header block is over the limit of 6 bytes (maximumHeaderBlock)"),
        (.tooManyHeaderLines(limit: 4), -32700, "a header block is over the limit of 4 lines (maximumHeaderLines)"),
        (.header(.noColon), -32700, "a header line has no colon"),
        (.unrecognised(0x0B), -32700, "the first byte, 0x0B, begins no known framing"),
        (.unrecognised(0x16), -32700, "this port does not speak TLS"),
        (.http, -32700, "this port speaks JSON-RPC 2.0, not HTTP"),
    ]

    @Test(arguments: texts)
    func `every error says what it is and names the limit`(error: FramingError, code: Int, text: String) {
        #expect(error.description == text)
        #expect(ErrorObject(error).code == code)
        #expect((error.plainAnswer == nil) == (error != .http))
    }
}
