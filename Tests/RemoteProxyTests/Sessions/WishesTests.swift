// What a client asks for in its hello: how long its session waits for it, and how soon it is pinged. On a clock that is moved by
// hand.

import JSONCodec
import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `What a client asks its server for` {
    private let network: SimulatedNetwork
    private let traffic = Traffic(loops: 1, maximumRequests: 100)
    private var loop: ManualLoop { network.loop }

    init() {
        var settings = LinkSettings()
        settings.traffic = traffic
        network = SimulatedNetwork(settings: settings)
        network.exports.add(ProbeProxy(RecordingProbe(network.loop)), named: nil)
    }

    private func overruns(of limit: Limit) -> Int { traffic.rareEvents.overruns[limit] ?? 0 }

    private func client(_ change: (inout RPCClient.Configuration) -> Void) throws -> RPCClient {
        var configuration = RPCClient.Configuration()
        configuration.log = { _ in }
        change(&configuration)
        let client = network.client(configuration)
        #expect(try loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        return client
    }

    /// Whether the session goes on for a client that has been away for so long.
    private func isKept(for away: Duration, _ client: RPCClient) throws -> Bool {
        network.isServing = false
        network.cut()
        loop.advance(by: away)
        network.isServing = true
        try loop.complete { try await client.connect() }
        let state = try loop.complete {
            for await state in client.states { return state }
            return RPCClient.State.closed
        }
        return state == .connected(resumed: true)
    }

    // MARK: the session

    @Test(
        arguments: [
            (nil, 59, 61), (600, 599, 601), (5, 4, 6), (80, 79, 81),
            // The server's own limit.
            (3_600, 599, 601),
        ] as [(Int?, Int, Int)])
    func `its session waits as long as it asks, and no longer than the server allows`(
        asked: Int?, kept: Int, over: Int
    ) throws {
        let client = try client { $0.sessionGrace = asked.map { .seconds($0) } }
        #expect(overruns(of: .maximumSessionGrace) == (asked == 3_600 ? 1 : 0))
        // Twice, since each connection asks anew.
        for _ in 0..<2 { #expect(try isKept(for: .seconds(kept), client)) }
        #expect(overruns(of: .sessionGrace) == 0)
        #expect(try !isKept(for: .seconds(over), client))
        #expect(overruns(of: .sessionGrace) == 1)
        client.close()
        network.shutDown()
    }

    @Test func `a client learns how long its session waits, so its calls end then`() throws {
        let client = try client {
            $0.sessionGrace = .seconds(100)
            $0.timeout = .seconds(3_600)
        }
        let call = StartedCall(on: loop) { try await ProbeProxy(client).wait(2, milliseconds: 3_000_000) }
        loop.run()
        network.isServing = false
        network.cut()
        loop.advance(by: .milliseconds(99_900))
        #expect(!call.isOver)
        loop.advance(by: .milliseconds(200))
        #expect(call.rpcError?.code == .connectionLost && call.rpcError?.outcome == .unknown)
        client.close()
        network.shutDown()
    }

    // MARK: pings

    /// When the server has given a silent client up, in seconds, rounded down; nil if it never does.
    private func givenUp() -> Int64? {
        let start = loop.now
        // Otherwise the client comes back over another connection.
        network.isServing = false
        network.cut(.silence)
        for _ in 0..<36_000 where overruns(of: .keepaliveTimeout) == 0 { loop.advance(by: .milliseconds(100)) }
        guard overruns(of: .keepaliveTimeout) > 0 else { return nil }
        return start.duration(to: loop.now).components.seconds
    }

    /// A client that says hello by hand, and answers no ping.
    private func handwritten(_ members: String) throws -> LineReceiver {
        let stream = try network.rawStream()
        let receiver = LineReceiver()
        stream.open(receiver)
        let hello = #"{"jsonrpc":"2.0","id":0,"method":"rpc.hello","params":{"protocol":4"# + members + "}}"
        Bytes(hello).withUnsafeBytes { _ = stream.append($0, framing: .lines) }
        stream.flush()
        loop.run()
        return receiver
    }

    @Test(
        arguments: [
            ("", 16), (#","keepaliveInterval":15000"#, 16), (#","keepaliveInterval":1"#, 16),
            (#","keepaliveInterval":100000"#, 100), (#","keepaliveInterval":0"#, 600),
            (#","keepaliveInterval":9223372036854775807"#, 600),
        ] as [(String, Int64)])
    func `it is pinged no sooner than it asks, but while its session could be kept`(members: String, seconds: Int64)
        throws
    {
        let client = try handwritten(members)
        var pinged: Int64?
        for tenth in 0..<Int64(6_100) where pinged == nil {
            loop.advance(by: .milliseconds(100))
            if client.text.contains("rpc.ping") { pinged = tenth / 10 }
        }
        #expect(pinged == seconds)
        loop.advance(by: .seconds(6))
        #expect(overruns(of: .keepaliveTimeout) == 1)
        network.shutDown()
    }

    @Test(
        arguments: [
            (Duration.seconds(15), Int64(20)), (.seconds(120), 124), (.zero, 604),
        ] as [(Duration, Int64)])
    func `the interval of a client holds for its server too`(interval: Duration, seconds: Int64) throws {
        let client = try client { $0.keepalive.interval = interval }
        // Twice: it holds for the connection with which the session goes on as well.
        network.cut()
        try loop.complete { try await client.connect() }
        #expect((seconds...seconds + 2).contains(try #require(givenUp())))
        client.close()
        network.shutDown()
    }

    // MARK: the hello

    @Test func `the answer says how long the session waits`() throws {
        for (members, grace) in [
            ("", "60000"), (#","grace":1234"#, "1234"), (#","grace":9223372036854775807"#, "600000"),
            (#","grace":0"#, "0"),
        ] {
            #expect(try handwritten(members).text.contains(#""grace":\#(grace)"#))
        }
        network.shutDown()
    }

    @Test func `a time below zero is refused, with its name`() throws {
        for name in ["grace", "keepaliveInterval", "timeout"] {
            let text = try handwritten(#","\#(name)":-1"#).text
            #expect(text.contains("-32602") && text.contains("at .\(name): it is below zero"))
        }
        network.shutDown()
    }

    @Test func `a client says it in its hello`() throws {
        let receiver = LineReceiver()
        let dialer = Dialer(loop: loop) { [loop] done in
            loop.submit {
                let (near, far) = MemoryChannel.pair(on: loop)
                far.open(receiver)
                done(.success(near))
            }
            return {}
        }
        var configuration = RPCClient.Configuration()
        configuration.keepalive.interval = .seconds(45)
        for (grace, members) in [
            (nil, #""keepaliveInterval":45000}"#), (.seconds(90), #""keepaliveInterval":45000,"grace":90000}"#),
            (.seconds(-1), #""keepaliveInterval":45000,"grace":0}"#),
        ] as [(Duration?, String)] {
            configuration.sessionGrace = grace
            let client = RPCClient(dialer, configuration)
            client.resume()
            loop.run()
            #expect(receiver.text.contains(members))
            client.close()
        }
    }
}

/// Keeps the received bytes, for tests that write a client's messages by hand.
final class LineReceiver: ByteReceiver {
    private let bytes = Lock<[UInt8]>([])
    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }

    func received(_ bytes: Bytes) {
        bytes.withUnsafeBytes { new in self.bytes.withLock { $0.append(contentsOf: new) } }
    }

    func ended(_: ChannelEnd, sentUpTo _: UInt64) {}
}
