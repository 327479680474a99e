import RPCSockets
import RPCWire
import TestSupport
import Testing

@Suite(.waitsForOthers) struct EchoTests {
    @Test(arguments: Place.allCases)
    func `what is sent comes back`(place: Place) async throws {
        try await withLoop { loop in
            guard let server = try? await EchoServer(on: loop, endpoint: place.endpoint) else {
                // Only a machine without IPv6 may be unable to listen.
                return #expect(place == .tcp6)
            }
            let stream = try await Connector.stream(to: server.endpoint, on: loop)
            let receiver = RecordingReceiver(on: loop)
            stream.open(receiver)
            stream.send("hello")
            try await receiver.wait { $0.bytes.count == 6 }
            #expect(receiver.text == "hello\n")
            #expect(stream.remoteAddress == server.endpoint.description)
            stream.close()
            #expect(try await receiver.waitForEnd() == .local)
            #expect(receiver.record.sent == 6)
            #expect(receiver.record.callsOffLoop == 0)
        }
    }

    @Test func `ten thousand small messages come back in order`() async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: loop)
            let stream = try await Connector.stream(to: server.endpoint, on: loop)
            let receiver = RecordingReceiver(on: loop)
            stream.open(receiver)
            var expected = ""
            for number in 0..<10_000 {
                stream.send("\(number)")
                expected += "\(number)\n"
            }
            let count = expected.utf8.count
            try await receiver.wait { $0.bytes.count >= count }
            #expect(receiver.text == expected)
            stream.abort()
            #expect(try await receiver.waitForEnd() == .local)
            #expect(receiver.record.sent == UInt64(count))
        }
    }

    @Test(arguments: [Place.tcp4, .unix])
    func `messages far larger than the kernel's buffers pass in both directions`(place: Place) async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: loop, endpoint: place.endpoint, bufferSize: 4_096)
            let stream = try await Connector.stream(to: server.endpoint, on: loop)
            let receiver = RecordingReceiver(on: loop)
            stream.open(receiver)
            let texts = ["a", "b", "c"].map { String(repeating: $0, count: 300_000) }
            for text in texts { stream.send(text) }
            try await receiver.wait { $0.bytes.count >= 900_003 }
            #expect(receiver.text == texts.joined(separator: "\n") + "\n")
            stream.close()
            #expect(try await receiver.waitForEnd() == .local)
        }
    }

    @Test func `a big message comes through in bigger reads`() async throws {
        try await withLoop { loop in
            let (near, far) = try Socket.pair()
            let (sender, reader) = (
                SocketChannel(near, on: loop, remoteAddress: "far"), SocketChannel(far, on: loop, remoteAddress: "near")
            )
            let receiver = RecordingReceiver(on: loop)
            sender.open(RecordingReceiver(on: loop))
            reader.open(receiver)
            sender.send(String(repeating: "x", count: 8 << 20))
            try await receiver.wait { $0.bytes.count == (8 << 20) + 1 }
            #expect(receiver.record.bytes.dropLast().allSatisfy { $0 == UInt8(ascii: "x") })
        }
    }

    @Test func `a host name is looked up, and each of its addresses is tried`() async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: loop)
            guard case .tcp(_, let port) = server.endpoint else { return }
            // The machine may know ::1 by that name as well, where nobody listens.
            let stream = try await Connector.stream(to: .tcp(host: "localhost", port: port), on: loop)
            let receiver = RecordingReceiver(on: loop)
            stream.open(receiver)
            stream.send("by name")
            try await receiver.wait { !$0.bytes.isEmpty }
            #expect(receiver.text == "by name\n")
        }
    }
}
