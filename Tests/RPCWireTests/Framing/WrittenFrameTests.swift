import RPCWire
import TestSupport
import Testing

struct WrittenFrameTests {
    @Test func `each framing puts its own bytes around a message`() {
        #expect(bytes(["{}"], .lines) == Array("{}\n".utf8))
        #expect(bytes(["{}"], .headers) == Array("Content-Length: 2\r\n\r\n{}".utf8))
        #expect(bytes(["{}"], .lengthPrefixed) == [0, 0, 0, 2, 0x7B, 0x7D])
        #expect(bytes([], .lines).isEmpty)
    }

    @Test(arguments: [0, 9, 10, 65_536, 16_777_215, 16_777_216])
    func `a prefix says the length exactly`(count: Int) {
        let text = String(repeating: "x", count: count)
        #expect(bytes([text], .headers).starts(with: "Content-Length: \(count)\r\n\r\n".utf8))
        #expect(bytes([text], .lengthPrefixed).prefix(4).reduce(0) { $0 << 8 | Int($1) } == count)
    }

    private static let limits = FrameLimits(maximumFrameSize: 20_000_000)
    private static func frames(_ bytes: [UInt8]) throws -> [Int] {
        var decoder = FrameReader(limits: limits)
        decoder.append(bytes.withUnsafeBytes { Bytes(copying: $0) })
        var counts: [Int] = []
        while let frame = try decoder.nextMessage() { counts.append(frame.count) }
        return counts
    }

    @Test(arguments: [16_777_215, 16_777_216, 16_777_217], [true, false])
    func `a connection can begin with a length-prefixed message of any length`(count: Int, isShared: Bool) throws {
        var queue = SendBuffer()
        let message = Bytes(String(repeating: "[", count: count))
        for isFirst in [true, false] {
            let framed = isShared ? OutgoingMessage.shared(message) : .copied(message.memory)
            Framing.lengthPrefixed.write(framed, into: &queue, isFirst: isFirst)
        }
        // An empty frame tells the framing where the length cannot, once; it is passed over like all empty frames.
        #expect(
            try Self.frames(Array(queue.bytes) + Array(queue.sharedBytes))
                == (count < 1 << 24 ? [count, count] : [0, count, count]))
    }

    @Test func `an end that was dialled has been told the framing and sends no empty frame`() {
        var queue = SendBuffer()
        let message = Bytes(String(repeating: "[", count: 1 << 24))
        Framing.lengthPrefixed.write(.shared(message), into: &queue, isFirst: false)
        #expect(queue.count == 4 + (1 << 24))
    }

    @Test(arguments: [.lines, .headers] as [Framing])
    func `other framings begin with a long message as it is`(framing: Framing) {
        var buffer = SendBuffer()
        let message = Bytes(String(repeating: "[", count: 1 << 24))
        framing.write(.shared(message), into: &buffer, isFirst: true)
        #expect(buffer.bytes.first == (framing == .lines ? UInt8(ascii: "[") : UInt8(ascii: "C")))
    }

    @Test(arguments: 0x01...0x08 as ClosedRange<UInt8>)
    func `a first length of 16 MiB or more is refused with what to send before it`(byte: UInt8) {
        let error = #expect(throws: FramingError.self) { try Self.frames([byte, 0, 0, 0]) }
        #expect(error == .unrecognised(byte) && error?.description.contains("0x00000000") == true)
    }
}

/// These messages, each in a frame.
private func bytes(_ texts: some Sequence<String>, _ framing: Framing) -> [UInt8] {
    var buffer = SendBuffer()
    for var text in texts {
        text.withUTF8 { framing.write(.copied(UnsafeRawBufferPointer($0)), into: &buffer) }
    }
    return Array(buffer.bytes)
}
