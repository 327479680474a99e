import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct WriterTests {
    @Test(arguments: [nil, 4_096], ChannelKind.allCases)
    func `many threads write whole messages, each in its own order`(
        bufferSize: Int?, kind: ChannelKind
    ) async throws {
        try await withLoop { loop in
            let (near, far) = try Socket.pair()
            if let bufferSize { near.setSendBufferSize(bufferSize) }
            let sender = kind.channel(near, on: loop, remoteAddress: "far")
            let reader = kind.channel(far, on: loop, remoteAddress: "near")
            let receiver = RecordingReceiver(on: loop)
            let senderReceiver = RecordingReceiver(on: loop)
            sender.open(senderReceiver)
            reader.open(receiver)
            // Sealed, each message comes alone.
            let (writers, messages) = (4, kind == .plain ? 1_000 : 100)
            for writer in 0..<writers {
                try SystemThread.start(name: "writer") {
                    for number in 0..<messages { sender.send("\(writer) \(number)") }
                }
            }
            let lines = writers * messages
            try await receiver.wait { $0.bytes.count { $0 == UInt8(ascii: "\n") } == lines }
            var next = [Int](repeating: 0, count: writers)
            for line in receiver.text.split(separator: "\n") {
                let parts = line.split(separator: " ").compactMap { Int($0) }
                try #require(parts.count == 2)
                #expect(parts[1] == next[parts[0]])
                next[parts[0]] += 1
            }
            #expect(next == [Int](repeating: messages, count: writers))
            sender.abort()
            _ = try await senderReceiver.waitForEnd()
            #expect(senderReceiver.record.sent == UInt64(receiver.record.bytes.count))
        }
    }

    @Test(arguments: ChannelKind.allCases)
    func `an abort among writers tells exactly what has left`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            for round in 0..<50 {
                let (near, far) = try Socket.pair()
                let sender = kind.channel(near, on: loop, remoteAddress: "far")
                let reader = kind.channel(far, on: loop, remoteAddress: "near")
                let sent = RecordingReceiver(on: loop)
                let received = RecordingReceiver(on: loop)
                sender.open(sent)
                reader.open(received)
                for _ in 0..<3 {
                    try SystemThread.start(name: "writer") { for number in 0..<100 { sender.send("\(number)") } }
                }
                try await received.wait { $0.bytes.count > round * 4 || !$0.ends.isEmpty }
                sender.abort()
                #expect(try await sent.waitForEnd() == .local)
                // The other end reads what was sent, and then the end.
                let end = try await received.waitForEnd()
                // With TLS the end that aborts may not have read what the other has said for TLS alone. That is a reset.
                #expect(end == .remote || kind == .tls)
                #expect(sent.record.sent == UInt64(received.record.bytes.count))
                #expect(sent.record.ends.count == 1)
            }
        }
    }

    @Test(arguments: ChannelKind.allCases)
    func `what is queued in one turn of the loop leaves in one piece`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            let (near, far) = try Socket.pair()
            let sender = kind.channel(near, on: loop, remoteAddress: "far")
            let reader = kind.channel(far, on: loop, remoteAddress: "near")
            let pieces = Lock<[Int]>([])
            let receiver = RecordingReceiver(on: loop) { bytes in pieces.withLock { $0.append(bytes.count) } }
            sender.open(RecordingReceiver(on: loop))
            reader.open(receiver)
            try await loop.perform { for _ in 0..<100 { sender.send("0123456789") } }
            try await receiver.wait { $0.bytes.count == 1_100 }
            // Each write is a piece of its own where pieces are sealed. With TLS all of it has waited for the handshake.
            #expect(pieces.withLock { $0 } == (kind == .sealed ? [352, 704, 44] : [1_100]))
        }
    }

    @Test(arguments: [false, true])
    func `what is said last in a turn leaves before it ends, unless others may have something to say`(
        hasOthers: Bool
    ) async throws {
        try await withLoop { loop in
            let (near, far) = try Socket.pair()
            let sender = SocketChannel(near, on: loop, remoteAddress: "far")
            sender.open(RecordingReceiver(on: loop))
            try await loop.perform {
                if hasOthers { loop.submit { sender.append("other") } }
                sender.append("last")
                sender.flush(.last)
                #expect(Self.text(from: far) == (hasOthers ? "" : "last\n"))
            }
            // After the others, who come in the order in which they were handed over.
            try await loop.perform {}
            let reader = SocketChannel(far, on: loop, remoteAddress: "near")
            let receiver = RecordingReceiver(on: loop)
            reader.open(receiver)
            sender.send("end")
            try await receiver.wait { $0.bytes.suffix(4).elementsEqual("end\n".utf8) }
            #expect(receiver.text == (hasOthers ? "last\nother\nend\n" : "end\n"))
        }
    }

    @Test func `of many messages some leave before the turn ends, and then twice as many`() async throws {
        try await withLoop { loop in
            let (near, far) = try Socket.pair()
            let sender = SocketChannel(near, on: loop, remoteAddress: "far")
            sender.open(RecordingReceiver(on: loop))
            // No turn tells the next how much it has sent.
            for _ in 0..<2 {
                try await loop.perform {
                    for count in [WriteBatch.firstWrite, 2 * WriteBatch.firstWrite] {
                        for _ in 1..<count { sender.send("1") }
                        #expect(Self.text(from: far) == "")
                        sender.send("2")
                        #expect(Self.text(from: far) == String(repeating: "1\n", count: count - 1) + "2\n")
                    }
                    sender.send("3")
                    #expect(Self.text(from: far) == "")
                }
                // What one hands over next may still be part of the same turn.
                var rest = ""
                while rest.isEmpty {
                    try await loop.perform {}
                    rest = Self.text(from: far)
                }
                #expect(rest == "3\n")
            }
        }
    }

    private static func text(from socket: Socket) -> String {
        withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) { room in
            guard case .bytes(let count) = socket.receive(room) else { return "" }
            return String(decoding: room[..<count], as: UTF8.self)
        }
    }

    @Test(arguments: ChannelKind.allCases)
    func `append answers where in the stream a message begins`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            let (near, far) = try Socket.pair()
            let stream = kind.channel(near, on: loop, remoteAddress: "far")
            #expect(stream.append("four", framing: .lengthPrefixed) == 0)
            #expect(stream.append("four", framing: .lines) == 8)
            #expect(stream.append("four", framing: .headers) == 13)
            #expect(stream.append("end") == 13 + UInt64("Content-Length: 4\r\n\r\nfour".utf8.count))
            let reader = kind.channel(far, on: loop, remoteAddress: "near")
            let receiver = RecordingReceiver(on: loop)
            reader.open(receiver)
            stream.flush()
            try await receiver.wait { $0.bytes.last == UInt8(ascii: "\n") && $0.bytes.count > 40 }
            #expect(receiver.text == "\0\0\0\u{4}fourfour\nContent-Length: 4\r\n\r\nfourend\n")
        }
    }

    @Test(arguments: [nil, 4_096], ChannelKind.allCases)
    func `large messages that others have too arrive whole and in their order`(
        bufferSize: Int?, kind: ChannelKind
    ) async throws {
        try await withLoop { loop in
            let (near, far) = try Socket.pair()
            if let bufferSize { near.setSendBufferSize(bufferSize) }
            let sender = kind.channel(near, on: loop, remoteAddress: "far")
            let reader = kind.channel(far, on: loop, remoteAddress: "near")
            let receiver = RecordingReceiver(on: loop)
            sender.open(RecordingReceiver(on: loop))
            reader.open(receiver)
            var expected = SendBuffer()
            for number in 0..<6 {
                let message = Bytes(String(repeating: "\(number)", count: 100_000 + number))
                message.withUnsafeBytes { Framing.lengthPrefixed.write(.copied($0), into: &expected) }
                sender.append(shared: message, framing: .lengthPrefixed)
                // Alone, behind another large one, or before a small one.
                if number % 3 != 0 { sender.flush() }
                guard number % 3 == 2 else { continue }
                Bytes("small").withUnsafeBytes {
                    Framing.lines.write(.copied($0), into: &expected)
                    sender.append($0, framing: .lines)
                }
                sender.flush()
            }
            let count = expected.count
            try await receiver.wait { $0.bytes.count >= count }
            let isSame = receiver.record.bytes.elementsEqual(expected.bytes)
            #expect(isSame)
        }
    }
}
