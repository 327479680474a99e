import RPCWire
import Testing

struct SendBufferTests {
    private func text(_ buffer: borrowing SendBuffer) -> String { String(decoding: buffer.bytes, as: UTF8.self) }

    private func append(_ text: String, to buffer: inout SendBuffer) {
        var text = text
        text.withUTF8 { buffer.append(UnsafeRawBufferPointer($0)) }
    }

    @Test func `bytes come out in the order they went in, however often it grows`() {
        var buffer = SendBuffer()
        var expected = ""
        for number in 0..<10_000 {
            append("\(number),", to: &buffer)
            expected += "\(number),"
            if number % 3 == 2 {
                buffer.removeFirst(4)
                expected.removeFirst(4)
            }
        }
        #expect(text(buffer) == expected)
        #expect(buffer.count == expected.utf8.count)
        buffer.removeFirst(.max)
        #expect(buffer.isEmpty && buffer.bytes.isEmpty)
    }

    @Test func `an empty message is a frame all the same`() {
        var buffer = SendBuffer()
        for framing in [Framing.lengthPrefixed, .lines, .headers] {
            buffer.append(UnsafeRawBufferPointer(start: nil, count: 0), framing: framing)
        }
        #expect(text(buffer) == "\0\0\0\0\nContent-Length: 0\r\n\r\n")
    }
}
