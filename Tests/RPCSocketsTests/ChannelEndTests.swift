import CSystem
import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

/// What the bytes of a test run through.
enum ChannelKind: CaseIterable, Sendable {
    case plain, sealed, tls

    /// Without TLS where the machine has no library for it.
    static var allCases: [ChannelKind] { TLSParts.shared == nil ? [.plain, .sealed] : [.plain, .sealed, .tls] }

    func channel(_ socket: Socket, on loop: EventLoop, remoteAddress: String) -> any ByteChannel {
        wrap(SocketChannel(socket, on: loop, remoteAddress: remoteAddress))
    }

    func wrap(_ channel: SocketChannel) -> any ByteChannel {
        switch self {
        case .plain: channel
        case .sealed: SealedChannel(channel)
        // The end that has the far one as its peer dials.
        case .tls: TLSParts.wrap(channel, dials: channel.remoteAddress == "far")
        }
    }

    /// How an end that was not announced appears to the other end, when bytes have gone between them.
    var abruptEnd: ChannelEnd { self == .tls ? .failed("TLS: the connection was cut off") : .remote }
}

/// Two streams over a connected pair of sockets, with receivers that record.
struct StreamPair {
    let near: any ByteChannel
    let far: any ByteChannel
    let nearStream: SocketChannel
    let farStream: SocketChannel
    let nearReceiver: RecordingReceiver
    let farReceiver: RecordingReceiver

    init(
        on loop: EventLoop, _ kind: ChannelKind = .plain, limits: OutputLimits = OutputLimits(),
        nearPauses: Bool = false, opensFar: Bool = true, bufferSize: Int? = nil
    ) throws {
        let (nearSocket, farSocket) = try Socket.pair()
        if let bufferSize { nearSocket.setSendBufferSize(bufferSize) }
        nearStream = SocketChannel(
            nearSocket, on: loop, remoteAddress: "far", limits: limits, pausesReading: nearPauses)
        farStream = SocketChannel(farSocket, on: loop, remoteAddress: "near")
        (near, far) = (kind.wrap(nearStream), kind.wrap(farStream))
        nearReceiver = RecordingReceiver(on: loop)
        farReceiver = RecordingReceiver(on: loop)
        near.open(nearReceiver)
        if opensFar { far.open(farReceiver) }
    }
}

@Suite(.waitsForOthers) struct ChannelEndTests {
    @Test func `a peer that acknowledges nothing in time has overrun the keepalive`() {
        let error = SystemError("recv", code: ETIMEDOUT)
        #expect(error.channelEnd == .overrun(.keepaliveTimeout, error.description))
        let reset = SystemError("recv", code: ECONNRESET)
        #expect(reset.channelEnd == .failed(reset.description))
    }

    @Test(arguments: ChannelKind.allCases)
    func `an abort ends both sides, each told once`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            let pair = try StreamPair(on: loop, kind)
            pair.near.abort()
            pair.near.abort()
            pair.near.close()
            #expect(try await pair.nearReceiver.waitForEnd() == .local)
            let end = try await pair.farReceiver.waitForEnd()
            #expect(end == .remote || end == kind.abruptEnd)
            pair.far.abort()
            try await loop.perform {}
            #expect(pair.nearReceiver.record.ends.count == 1)
            #expect(pair.farReceiver.record.ends.count == 1)
        }
    }

    @Test(arguments: ChannelKind.allCases)
    func `a channel that moves while it is read leaves all that follows to the one in its place`(
        kind: ChannelKind
    ) async throws {
        try await withLoop { loop in
            let other = try EventLoop(name: "other")
            defer { other.shutdown() }
            let (nearSocket, farSocket) = try Socket.pair()
            let near = kind.channel(nearSocket, on: loop, remoteAddress: "far")
            let far = kind.channel(farSocket, on: loop, remoteAddress: "near")
            near.open(RecordingReceiver(on: loop))
            let text = String(repeating: "0123456789abcdef", count: 1 << 16)
            for part in 0..<16 {
                near.append(String(text.dropFirst(part << 16).prefix(1 << 16)))
                near.flush()
            }
            near.close()
            let second = RecordingReceiver(on: other)
            // What it has said before, even in this turn, is no hindrance.
            let first = RecordingReceiver(on: loop) { _ in
                far.send("seen")
                far.moved(to: other)?.open(second)
            }
            far.open(first)
            _ = try await second.waitForEnd()
            #expect(first.record.ends.isEmpty)
            let isWhole = (first.text + second.text).replacing("\n", with: "") == text
            #expect(isWhole && !first.text.isEmpty)
        }
    }

    @Test(arguments: ChannelKind.allCases)
    func `an abort from inside a delivery is the last that the receiver hears`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            let (nearSocket, farSocket) = try Socket.pair()
            let near = kind.channel(nearSocket, on: loop, remoteAddress: "far")
            let far = kind.channel(farSocket, on: loop, remoteAddress: "near")
            let receiver = RecordingReceiver(on: loop) { _ in near.abort() }
            far.open(RecordingReceiver(on: loop))
            for _ in 0..<20 { far.send(String(repeating: "x", count: 10_000)) }
            near.open(receiver)
            #expect(try await receiver.waitForEnd() == .local)
            #expect(receiver.record.bytes.count <= 64 << 10)
            #expect(receiver.record.bytesAfterEnd == 0)
        }
    }

    @Test(arguments: ChannelKind.allCases)
    func `finish sends all that is queued before the end`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            let pair = try StreamPair(on: loop, kind, bufferSize: 4_096)
            pair.near.append(String(repeating: "x", count: 1_000_000))
            pair.near.close()
            #expect(pair.near.append("too late") == 1_000_001)
            #expect(try await pair.farReceiver.waitForEnd() == .remote)
            #expect(pair.farReceiver.record.bytes.count == 1_000_001)
            #expect(try await pair.nearReceiver.waitForEnd() == .local)
            #expect(pair.nearReceiver.record.sent == 1_000_001)
        }
    }

    @Test(arguments: ChannelKind.allCases)
    func `finish does not wait for ever for a peer that does not close`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            var limits = OutputLimits()
            limits.linger = .milliseconds(20)
            let pair = try StreamPair(on: loop, kind, limits: limits, opensFar: false)
            let start = loop.now
            pair.near.close()
            #expect(try await pair.nearReceiver.waitForEnd() == .local)
            #expect(start.duration(to: loop.now) >= .milliseconds(20))
        }
    }

    @Test func `a peer that finishes reads the answer to its last message`() async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: loop)
            let stream = try await Connector.stream(to: server.endpoint, on: loop)
            // Both arrive at the server at once; the reply is queued when the end is read.
            stream.append("last words")
            let receiver = RecordingReceiver(on: loop)
            stream.open(receiver)
            stream.flush()
            stream.socket.shutdownSending()
            try await receiver.wait { !$0.bytes.isEmpty }
            #expect(receiver.text == "last words\n")
            #expect(try await receiver.waitForEnd() == .remote)
        }
    }

    /// Answers long after the peer has said its last word.
    private final class LateAnswer: ByteReceiver {
        private let stream: SocketChannel
        private let record: RecordingReceiver

        init(_ stream: SocketChannel) {
            self.stream = stream
            record = RecordingReceiver(on: stream.loop)
        }

        func received(_: Bytes) {}

        func peerFinished() -> Bool {
            stream.loop.schedule(at: stream.loop.now.advanced(by: .milliseconds(5))) { [stream] in
                stream.append("late answer")
                stream.close()
            }
            return true
        }

        func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) { record.ended(end, sentUpTo: sent) }

        func waitForEnd() async throws -> ChannelEnd { try await record.waitForEnd() }
    }

    @Test func `a peer that only reads any more can be answered later`() async throws {
        try await withLoop { loop in
            let (near, far) = try Socket.pair()
            let stream = SocketChannel(near, on: loop, remoteAddress: "far")
            let receiver = LateAnswer(stream)
            stream.open(receiver)
            far.write("question\n")
            far.shutdownSending()
            #expect(far.read() == "late answer\n")
            #expect(far.read() == nil)
            #expect(try await receiver.waitForEnd() == .local)
        }
    }

    @Test func `a reset by the peer is a failure that names the call`() async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: loop)
            let stream = try await Connector.stream(to: server.endpoint, on: loop)
            let receiver = RecordingReceiver(on: loop)
            stream.open(receiver)
            stream.send("x")
            try await receiver.wait { !$0.bytes.isEmpty }
            // With zero seconds to linger, closing is a reset.
            let socket = server.accepted[0].socket
            socket.resetOnClose()
            server.accepted[0].abort()
            guard case .failed(let reason) = try await receiver.waitForEnd() else {
                Issue.record("\(receiver.record.ends)")
                return
            }
            #expect(reason.contains("ECONNRESET"))
            #expect(receiver.record.ends.count == 1)
        }
    }

    @Test(arguments: ChannelKind.allCases)
    func `a stream that ends before it is opened tells so when it is`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            let (nearSocket, farSocket) = try Socket.pair()
            let near = kind.channel(nearSocket, on: loop, remoteAddress: "far")
            near.abort()
            try await loop.perform {}
            let receiver = RecordingReceiver(on: loop)
            near.open(receiver)
            #expect(try await receiver.waitForEnd() == .local)
            // Otherwise the channel could hear of its end first.
            farSocket.close()
        }
    }

    @Test(arguments: ChannelKind.allCases)
    func `the end of the loop ends its streams`(kind: ChannelKind) async throws {
        let loop = try EventLoop(name: "test")
        let pair = try StreamPair(on: loop, kind)
        try await loop.perform {}
        loop.shutdown()
        #expect(try await pair.nearReceiver.waitForEnd() == .local)
        #expect(try await pair.farReceiver.waitForEnd() != .failed(""))
        #expect(try await loop.perform { 42 } == 42, "work that comes later is still run")
    }

    @Test(arguments: ChannelKind.allCases)
    func `a channel is crowded while much waits, and tells when there is room again`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            var limits = OutputLimits()
            limits.pauseReading = 100_000
            let pair = try StreamPair(on: loop, kind, limits: limits, opensFar: false, bufferSize: 4_096)
            #expect(!pair.near.isCrowded)
            // With TLS all of it waits for the handshake.
            for _ in 0..<(kind == .tls ? 120 : 40) { pair.near.send(String(repeating: "x", count: 9_999)) }
            #expect(pair.near.isCrowded && pair.near.waiting > 100_000)
            pair.far.open(pair.farReceiver)
            try await pair.nearReceiver.wait { $0.outputChanges > 1 && !pair.near.isCrowded && pair.near.waiting == 0 }
            #expect(!pair.near.isCrowded && pair.near.waiting == 0)
            #expect(pair.nearReceiver.record.ends.isEmpty, "amounts alone never end a channel")
        }
    }

    @Test(arguments: [ChannelKind.plain, .sealed])
    func `a peer that takes nothing for too long is given up`(kind: ChannelKind) async throws {
        try await withLoop { loop in
            var limits = OutputLimits()
            limits.patience = .milliseconds(20)
            let pair = try StreamPair(on: loop, kind, limits: limits, opensFar: false, bufferSize: 4_096)
            pair.near.send(String(repeating: "x", count: 100_000))
            guard case .overrun(.patience, let reason) = try await pair.nearReceiver.waitForEnd() else {
                Issue.record("\(pair.nearReceiver.record.ends)")
                return
            }
            #expect(reason.contains("(patience)"))
        }
    }

    @Test func `a peer that has caught up once is given up when it takes nothing the second time`() async throws {
        try await withLoop { loop in
            var limits = OutputLimits()
            limits.patience = .milliseconds(20)
            var pair = try StreamPair(on: loop, limits: limits, opensFar: false, bufferSize: 4_096)
            // On a busy machine the peer may be late already the first time: then it gets more time.
            while !Task.isCancelled {
                pair.near.send(String(repeating: "a", count: 100_000))
                try await loop.perform {}
                var missing = 100_001
                while missing > 0, let text = pair.farStream.socket.read() { missing -= text.utf8.count }
                await until {
                    !pair.nearReceiver.record.ends.isEmpty || pair.near.waiting == 0
                }
                if try await loop.perform({ [pair] in pair.nearReceiver.record.ends.isEmpty }) { break }
                limits.patience *= 4
                pair = try StreamPair(on: loop, limits: limits, opensFar: false, bufferSize: 4_096)
            }
            pair.near.send(String(repeating: "b", count: 100_000))
            try await loop.perform {}
            // Behind the end of the channel's patience, however late the loop is.
            let later = loop.now.advanced(by: limits.patience * 2)
            try await handedOver { done in loop.schedule(at: later) { loop.submit { done(()) } } }
            guard case .overrun(.patience, _)? = pair.nearReceiver.record.ends.first else {
                Issue.record("\(pair.nearReceiver.record.ends)")
                return
            }
        }
    }

    @Test(arguments: [ChannelKind.plain, .sealed])
    func `a server stops reading from a peer that does not read, and goes on when it does`(
        kind: ChannelKind
    ) async throws {
        try await withLoop { loop in
            var limits = OutputLimits()
            limits.pauseReading = 50_000
            // However long a busy machine keeps this test from going on.
            limits.patience = .seconds(3_600)
            let pair = try StreamPair(
                on: loop, kind, limits: limits, nearPauses: true, opensFar: false, bufferSize: 4_096)
            pair.near.send(String(repeating: "a", count: 100_000))
            // The first message may arrive before the queue is known to be stuck; what follows must wait.
            pair.far.send("question")
            for _ in 0..<10_000 where try await loop.perform({ pair.nearStream.state.interest }) != .writing {}
            #expect(try await loop.perform { pair.nearStream.state.interest } == .writing)
            #expect(pair.nearReceiver.record.bytes.isEmpty)
            pair.far.open(pair.farReceiver)
            try await pair.nearReceiver.wait { !$0.bytes.isEmpty }
            #expect(pair.nearReceiver.text == "question\n")
            try await pair.farReceiver.wait { $0.bytes.count == 100_001 }
            #expect(try await loop.perform { pair.nearStream.state.interest } == .reading)
        }
    }
}
