import RPCWire
import Testing

struct FrameEncoderTests {
    @Test func `each framing puts its own bytes around a message`() {
        #expect(framed(["{}"], .lines) == Array("{}\n".utf8))
        #expect(framed(["{}"], .headers) == Array("Content-Length: 2\r\n\r\n{}".utf8))
        #expect(framed(["{}"], .lengthPrefixed) == [0, 0, 0, 2, 0x7B, 0x7D])
        #expect(framed([], .lines).isEmpty)
    }

    @Test(arguments: [0, 9, 10, 65_536, 16_777_216, 4_294_967_295])
    func `a prefix says the length exactly`(count: Int) {
        withUnsafeTemporaryAllocation(byteCount: FrameEncoder.maximumPrefix, alignment: 1) { target in
            var end = FrameEncoder.writePrefix(count, framing: .headers, into: target)
            #expect(String(decoding: target[..<end], as: UTF8.self) == "Content-Length: \(count)\r\n\r\n")
            end = FrameEncoder.writePrefix(count, framing: .lengthPrefixed, into: target)
            #expect(target[..<end].reduce(0) { $0 << 8 | Int($1) } == count)
            #expect(FrameEncoder.writePrefix(count, framing: .lines, into: target) == 0)
        }
    }

    @Test func `the longest prefix fits its room`() {
        withUnsafeTemporaryAllocation(byteCount: FrameEncoder.maximumPrefix, alignment: 1) { target in
            #expect(FrameEncoder.writePrefix(.max, framing: .headers, into: target) <= target.count)
        }
    }
}
