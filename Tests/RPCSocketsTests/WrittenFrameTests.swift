import RPCWire
import Testing

@testable import RPCSockets

struct WrittenFrameTests {
    @Test func `each framing puts its own bytes around a message`() {
        #expect(framed(["{}"], .lines) == Array("{}\n".utf8))
        #expect(framed(["{}"], .headers) == Array("Content-Length: 2\r\n\r\n{}".utf8))
        #expect(framed(["{}"], .lengthPrefixed) == [0, 0, 0, 2, 0x7B, 0x7D])
        #expect(framed([], .lines).isEmpty)
    }

    @Test(arguments: [0, 9, 10, 65_536, 16_777_215, 16_777_216])
    func `a prefix says the length exactly`(count: Int) {
        let text = String(repeating: "x", count: count)
        #expect(framed([text], .headers).starts(with: "Content-Length: \(count)\r\n\r\n".utf8))
        #expect(framed([text], .lengthPrefixed).prefix(4).reduce(0) { $0 << 8 | Int($1) } == count)
    }

    private static let limits = FrameLimits(maximumFrameSize: 20_000_000)
    private static func frames(_ bytes: [UInt8]) throws -> [Int] {
        var decoder = FrameReader(limits: limits)
        decoder.append(bytes.withUnsafeBytes { Bytes(copying: $0) })
        var counts: [Int] = []
        while let frame = try decoder.next() { counts.append(frame.count) }
        return counts
    }

    @Test(arguments: [16_777_215, 16_777_216, 16_777_217], [true, false])
    func `a connection can begin with a length-prefixed message of any length`(count: Int, isShared: Bool) throws {
        var outgoing = Outgoing()
        let message = Bytes(String(repeating: "[", count: count))
        for _ in 1...2 {
            if isShared {
                _ = outgoing.append(shared: message, framing: .lengthPrefixed, limit: .max)
            } else {
                _ = message.withUnsafeBytes { outgoing.append($0, framing: .lengthPrefixed, limit: .max) }
            }
        }
        var flight = SendBuffer()
        #expect(outgoing.beginWriting() && outgoing.next(&flight) == .send)
        // An empty frame tells the framing where the length cannot, once; it is passed over like all empty frames.
        #expect(
            try Self.frames(Array(flight.bytes) + Array(flight.sharedBytes))
                == (count < 1 << 24 ? [count, count] : [0, count, count]))
    }

    @Test func `an end that was dialled has been told the framing and sends no empty frame`() {
        var outgoing = Outgoing(tellsFraming: false)
        let message = Bytes(String(repeating: "[", count: 1 << 24))
        _ = outgoing.append(shared: message, framing: .lengthPrefixed, limit: .max)
        #expect(outgoing.waiting == 4 + (1 << 24))
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

/// The bytes of these messages, each in a frame.
private func framed(_ texts: some Sequence<String>, _ framing: Framing) -> [UInt8] {
    var buffer = SendBuffer()
    for var text in texts {
        text.withUTF8 { framing.write(.copied(UnsafeRawBufferPointer($0)), into: &buffer) }
    }
    return Array(buffer.bytes)
}
