import RPCWire
import TestSupport
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
            framing.write(.copied(UnsafeRawBufferPointer(start: nil, count: 0)), into: &buffer)
        }
        #expect(text(buffer) == "\0\0\0\0\nContent-Length: 0\r\n\r\n")
    }

    @Test func `a queue that never runs empty is moved to the front of its memory, in order`() {
        var buffer = SendBuffer()
        append(String(repeating: "-", count: 100), to: &buffer)
        for number in 100..<1_000 {
            append("\(number)", to: &buffer)
            buffer.removeFirst(3)
            #expect(buffer.count == 100)
        }
        #expect(text(buffer) == "6" + (967..<1_000).map(String.init).joined())
    }

    @Test func `after a large message it keeps no large memory and goes on`() {
        var buffer = SendBuffer()
        let large = String(repeating: "x", count: 3 << 20)
        for _ in 0..<3 {
            append(large, to: &buffer)
            append("end", to: &buffer)
            #expect(buffer.count == (3 << 20) + 3 && text(buffer).hasSuffix("xend"))
            buffer.removeFirst(1 << 20)
            append("more", to: &buffer)
            #expect(text(buffer).hasSuffix("xendmore"))
            buffer.removeAll()
            append("small", to: &buffer)
            #expect(text(buffer) == "small")
            buffer.removeFirst(5)
        }
    }

    private func all(_ buffer: borrowing SendBuffer) -> String {
        text(buffer) + String(decoding: buffer.sharedBytes, as: UTF8.self)
    }

    @Test func `a message that others have too stands behind the rest and is not copied`() {
        var buffer = SendBuffer()
        let message = Bytes("shared")
        append("own", to: &buffer)
        Framing.headers.write(.shared(message), into: &buffer)
        #expect(text(buffer) == "ownContent-Length: 6\r\n\r\n")
        let (address, count) = (buffer.sharedBytes.baseAddress, buffer.count)
        #expect(address == message.withUnsafeBytes { $0.baseAddress })
        #expect(count == 3 + 21 + 6)
    }

    @Test(arguments: [Framing.lengthPrefixed, .lines, .headers])
    func `shared or copied, what is sent is the same, however it is cut`(framing: Framing) {
        let messages = ["one", "", "{}", "a longer one", "x"]
        for isSent in 0..<40 {
            var copied = SendBuffer()
            var shared = SendBuffer()
            for (number, message) in messages.enumerated() {
                let bytes = Bytes(message)
                bytes.withUnsafeBytes { framing.write(.copied($0), into: &copied) }
                if number % 2 == 0 {
                    bytes.withUnsafeBytes { framing.write(.copied($0), into: &shared) }
                } else {
                    framing.write(.shared(bytes), into: &shared)
                }
                if number % 2 == 1 {
                    copied.removeFirst(isSent)
                    shared.removeFirst(isSent)
                }
                #expect(all(shared) == text(copied))
                let (sharedCount, copiedCount) = (shared.count, copied.count)
                #expect(sharedCount == copiedCount)
                let (sharedIsEmpty, copiedIsEmpty) = (shared.isEmpty, copied.isEmpty)
                #expect(sharedIsEmpty == copiedIsEmpty)
            }
            shared.append(shared: Bytes("last"))
            shared.removeFirst(.max)
            let isEmpty = shared.isEmpty && shared.bytes.isEmpty && shared.sharedBytes.isEmpty
            #expect(isEmpty)
        }
    }

    @Test func `a buffer that is emptied lets go of what others have too`() {
        for empty in [
            { (buffer: inout SendBuffer) in buffer.removeAll() }, { $0.letGo() }, { $0.removeFirst($0.count) },
            { $0 = SendBuffer() },
        ] {
            var buffer = SendBuffer()
            weak var chunk: ByteChunk?
            do {
                let message = ByteChunk(capacity: 8)
                chunk = message
                Framing.lengthPrefixed.write(.shared(Bytes(message, 0..<8)), into: &buffer)
            }
            #expect(chunk != nil)
            empty(&buffer)
            #expect(chunk == nil)
            let isEmpty = buffer.isEmpty
            #expect(isEmpty)
        }
    }
}
