// A server that sends back every line, and what a test needs to reach it.

import RPCSockets
import RPCWire
import TestSupport

final class EchoServer: Sendable {
    let endpoint: SocketEndpoint
    private let listener: Listener
    private let streams: Streams

    private final class Streams: Sendable {
        let list = Lock<[SocketChannel]>([])
    }

    init(
        on loop: EventLoop, endpoint: SocketEndpoint = .tcp(host: "127.0.0.1", port: 0),
        limits: OutputLimits = OutputLimits(),
        bufferSize: Int? = nil
    ) async throws {
        let streams = Streams()
        listener = try await Listener.listen(on: endpoint, loop: loop) { socket, peer in
            if let bufferSize { socket.setSendBufferSize(bufferSize) }
            let stream = SocketChannel(
                socket, on: loop, remoteAddress: peer.description, limits: limits, pausesReading: true)
            streams.list.withLock { $0.append(stream) }
            stream.open(LineEcho(stream))
        }
        self.streams = streams
        self.endpoint = listener.endpoint
    }

    var accepted: [SocketChannel] { streams.list.withLock { $0 } }

    func close() { listener.close() }
}

/// Sends back whole lines, however they arrive.
final class LineEcho: ByteReceiver {
    private let stream: any ByteChannel
    private let started = Lock<[UInt8]>([])

    init(_ stream: any ByteChannel) { self.stream = stream }

    func received(_ bytes: Bytes) {
        let lines = started.withLock { started in
            bytes.withUnsafeBytes { started.append(contentsOf: $0) }
            guard let end = started.lastIndex(of: UInt8(ascii: "\n")) else { return [UInt8]() }
            defer { started.removeFirst(end + 1) }
            return Array(started[..<end])
        }
        if lines.isEmpty { return }
        lines.withUnsafeBytes { _ = stream.append($0, framing: .lines) }
        stream.flush()
    }

    func ended(_: ChannelEnd, sentUpTo _: UInt64) {}
}

extension Connector {
    static func stream(
        to endpoint: SocketEndpoint, on loop: EventLoop, timeout: Duration = .seconds(10),
        limits: OutputLimits = OutputLimits()
    ) async throws -> SocketChannel {
        try await handedOver { answer in
            Connector.connect(to: endpoint, on: loop, timeout: timeout, limits: limits, completion: answer)
        }.get()
    }
}
