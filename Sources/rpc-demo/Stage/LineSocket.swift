// A bare socket to type lines into: text goes out, lines come back. It knows nothing of proxies, methods or JSON.

import RPCSockets
import RPCWire
import RemoteProxy

final class LineSocket: ByteReceiver {
    private let channel: SocketChannel
    private let unfinished = Lock<[UInt8]>([])
    private let lines: AsyncStream<String>
    private let arrived: AsyncStream<String>.Continuation

    private init(_ channel: SocketChannel) {
        self.channel = channel
        (lines, arrived) = AsyncStream.makeStream()
    }

    /// - Throws: At once if no program listens at the address.
    static func connect(to endpoint: Endpoint, within limit: Duration = .seconds(20)) async throws -> LineSocket {
        let address = try endpoint.destination().socket()
        let channel = try await withCheckedContinuation { continuation in
            Connector.connect(to: address, on: .shared, timeout: limit) { continuation.resume(returning: $0) }
        }.mapError { Difference("no server can be reached: \($0); is rpc-server running there?") }.get()
        let socket = LineSocket(channel)
        channel.open(socket)
        return socket
    }

    func type(_ line: String) {
        var line = line
        line.append("\n")
        line.withUTF8 { _ = channel.write(UnsafeRawBufferPointer($0)) }
        channel.flush()
    }

    /// The next line to arrive. The connection ends if none arrives in time.
    func answer(within limit: Duration = .seconds(20)) async throws -> String {
        let loop = channel.loop
        let patience = loop.schedule(at: loop.now.advanced(by: limit)) { [channel] in channel.abort() }
        defer { patience.cancel() }
        for await line in lines { return line }
        throw Difference("no line came back")
    }

    func close() { channel.abort() }

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
