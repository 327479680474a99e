import RPCWire
import Testing

struct EchoTests {
    @Test(arguments: EventLoop.Backend.allCases)
    func `what is sent over TCP comes back`(backend: EventLoop.Backend) async throws {
        let loop = try EventLoop(name: "test", backend: backend)
        defer { loop.shutdown() }
        let server = try await EchoServer(on: loop)
        let stream = try await Connector.stream(to: server.endpoint, on: loop)
        let receiver = RecordingReceiver(on: loop)
        stream.open(receiver)
        stream.send("hello")
        await receiver.wait { $0.bytes.count == 6 }
        #expect(receiver.text == "hello\n")
        stream.finish()
        #expect(await receiver.waitForEnd() == .local)
        #expect(receiver.record.sent == 6)
        #expect(receiver.record.callsOffLoop == 0)
    }
}
