// A server that sends back every byte, and what a test needs to reach it.

import RPCWire
import Synchronization

final class EchoServer: Sendable {
    let loop: EventLoop
    private let listener: Mutex<Listener?> = Mutex(nil)
    private let streams = Mutex<[SocketStream]>([])

    var endpoint: Endpoint { listener.withLock { $0 }?.endpoint ?? .unix(path: "/nowhere") }

    init(
        on loop: EventLoop, endpoint: Endpoint = .tcp(host: "127.0.0.1", port: 0),
        limits: OutputLimits = OutputLimits(),
        bufferSize: Int? = nil
    ) async throws {
        self.loop = loop
        let listener = try await Listener.listen(on: endpoint, loop: loop) { [self] socket, peer in
            if let bufferSize { socket.setBufferSizes(bufferSize) }
            let stream = SocketStream(
                socket, on: loop, remoteAddress: peer.description, limits: limits, pausesReading: true)
            streams.withLock { $0.append(stream) }
            stream.open(Echo(stream))
        }
        self.listener.withLock { $0 = listener }
    }

    var accepted: [SocketStream] { streams.withLock { $0 } }

    func close() { listener.withLock { $0 }?.close() }

    private final class Echo: ByteStreamReceiver {
        private let stream: SocketStream
        init(_ stream: SocketStream) { self.stream = stream }

        func received(_ bytes: Bytes) {
            bytes.withUnsafeBytes { stream.appendRaw($0) }
            stream.flush()
        }

        func ended(_: StreamEnd, sent _: UInt64) {}
    }
}

extension ByteStream {
    /// Sends bytes as they are: as lines without their last end of line, which framing puts back.
    func appendRaw(_ bytes: UnsafeRawBufferPointer) {
        guard let last = bytes.last else { return }
        if last == UInt8(ascii: "\n") {
            append(UnsafeRawBufferPointer(rebasing: bytes.dropLast()), framing: .lines)
        } else {
            // Held together by the test: it only ever sends whole lines at once or counts bytes.
            append(bytes, framing: .lines)
        }
    }
}

extension Connector {
    static func stream(
        to endpoint: Endpoint, on loop: EventLoop, timeout: Duration = .seconds(10),
        limits: OutputLimits = OutputLimits()
    ) async throws -> SocketStream {
        try await withCheckedThrowingContinuation { continuation in
            Connector.connect(to: endpoint, on: loop, timeout: timeout, limits: limits) {
                continuation.resume(with: $0)
            }
        }
    }
}
