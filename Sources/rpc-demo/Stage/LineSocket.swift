// A bare socket to type lines into: text goes out, lines come back. It knows nothing of proxies, methods or JSON.

import RPCSockets
import RPCWire
import RemoteProxy

final class LineSocket: ByteReceiver {
    private let stream: SocketChannel
    private let unfinished = Lock<[UInt8]>([])
    private let lines: AsyncStream<String>
    private let arrived: AsyncStream<String>.Continuation

    private init(_ stream: SocketChannel) {
        self.stream = stream
        (lines, arrived) = AsyncStream.makeStream()
    }

    /// - Throws: At once if no program listens at the address.
    static func connect(to endpoint: Endpoint, within limit: Duration = .seconds(20)) async throws -> LineSocket {
        let address = try endpoint.socket()
        let stream = try await withCheckedContinuation { continuation in
            Connector.connect(to: address, on: .shared, timeout: limit) { continuation.resume(returning: $0) }
        }.mapError { Difference("no server can be reached: \($0); is rpc-server running there?") }.get()
        let socket = LineSocket(stream)
        stream.open(socket)
        return socket
    }

    func type(_ line: String) {
        var line = line
        line.append("\n")
        line.withUTF8 { _ = stream.write(UnsafeRawBufferPointer($0)) }
        stream.flush()
    }

    /// The next line to arrive. The connection ends if none arrives in time.
    func answer(within limit: Duration = .seconds(20)) async throws -> String {
        let loop = stream.loop
        let patience = loop.schedule(at: loop.now.advanced(by: limit)) { [stream] in stream.abort() }
        defer { patience.cancel() }
        for await line in lines { return line }
        throw Difference("no line came back")
    }

    func close() { stream.abort() }

    func received(_ bytes: Bytes) {
        unfinished.withLock { unfinished in
            bytes.withUnsafeBytes { unfinished.append(contentsOf: $0) }
            while let end = unfinished.firstIndex(of: UInt8(ascii: "\n")) {
                arrived.yield(String(decoding: unfinished[..<end], as: UTF8.self))
                unfinished.removeFirst(end + 1)
            }
        }
    }

    func ended(_: ChannelEnd, sentUpTo _: UInt64) { arrived.finish() }
}
