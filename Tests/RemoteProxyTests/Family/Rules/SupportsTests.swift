// Optional methods: a protocol that gained a method since the server was built, and how its clients find out.

import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

@Service
private protocol Feed: Sendable {
    func load() async throws -> [String]
    func loadPage(_ page: Int) async throws -> [String]
    func seen(_ text: String)
}

private struct PlainFeed: Feed {
    func load() async throws -> [String] { ["new"] }
    func loadPage(_ page: Int) async throws -> [String] { ["page \(page)"] }
    func seen(_ text: String) {}
}

@Suite struct `Optional methods` {
    private let network = SimulatedNetwork()
    private var loop: ManualLoop { network.loop }
    private let feed: FeedProxy

    init() {
        feed = FeedProxy(network.client())
        network.exports.add(earlierFeed(), named: nil)
    }

    private func supported(_ method: FeedProxy.MethodName, of feed: FeedProxy) throws -> Bool {
        try loop.complete { try await feed.supports(method) }
    }

    /// Row C20 of "What became of my call".
    @Test func `a method that the server has not throws, and nothing was executed`() throws {
        let feed = feed
        #expect(try loop.complete { try await feed.load() } == ["old"])
        let error = try #require(loop.failure { try await feed.loadPage(1) })
        #expect(error.code == .noSuchMethod)
        #expect(error.outcome == .notExecuted)
    }

    @Test func `whether it has one can be asked first, of calls and of posts`() throws {
        #expect(try supported(.load, of: feed))
        #expect(try supported(.loadPage, of: feed) == false)
        #expect(try supported(.seen, of: feed) == false)
    }

    @Test func `an object that is here has all of them`() throws {
        let local = FeedProxy(PlainFeed()).with(timeout: .seconds(1)).observed { _ in }
        #expect(try supported(.loadPage, of: local))
        #expect(try supported(.init(name: "somethingElse"), of: local) == false)
    }

    @Test func `an answer holds for as long as the connection`() throws {
        let count = Lock(0)
        let earlier = earlierFeed(counting: count)
        let registration = network.exports.add(earlier, named: nil)
        let feed = feed
        #expect(try loop.complete { try await feed.load() } == ["old"])
        for _ in 0..<3 { #expect(try supported(.load, of: feed)) }
        #expect(try supported(.loadPage, of: feed) == false)
        #expect(count.withLock { $0 } == 1)
        // The server comes back with a later build.
        registration.cancel()
        network.exports.add(FeedProxy(PlainFeed()), named: nil)
        #expect(try supported(.loadPage, of: feed) == false)
        network.cut()
        loop.run()
        loop.advance(by: .seconds(1))
        #expect(try supported(.loadPage, of: feed))
        #expect(try supported(.seen, of: feed))
    }

    @Test func `of several objects each has its own`() throws {
        let server = SimulatedNetwork(loop: loop)
        server.exports.add(feed, named: nil)
        server.exports.add(FeedProxy(PlainFeed()), named: "new")
        #expect(try supported(.loadPage, of: FeedProxy(server.client())) == false)
        #expect(try supported(.loadPage, of: FeedProxy(server.client(), named: "new")))
        #expect(try supported(.load, of: FeedProxy(server.client(), named: "none")) == false)
    }

    @Test func `a gateway asks the server behind it`() throws {
        let upstream = SimulatedNetwork(loop: loop)
        upstream.exports.add(earlierFeed(), named: nil)
        network.exports.add(FeedProxy(upstream.client()), named: nil)
        #expect(try supported(.load, of: feed))
        #expect(try supported(.loadPage, of: feed) == false)
    }

    @Test func `without a connection the question waits until its deadline`() throws {
        network.isServing = false
        let feed = feed.with(timeout: .seconds(2), clock: loop)
        #expect(loop.failure { try await feed.supports(.load) }?.code == .unavailable)
        #expect(loop.now == Instant(nanoseconds: 2_000_000_000))
    }
}

@Suite struct `Optional methods of foreign servers` {
    @Test func `one that cannot be asked is said to be so`() throws {
        let server = ForeignServer { _ in nil }
        let feed = FeedProxy(server.client)
        let error = try #require(server.loop.failure { try await feed.supports(.load) })
        #expect(error.code == .noSuchMethod)
        #expect(error.message.contains("cannot say whether it has Feed.load"))
    }

    @Test(arguments: [#""result":7"#, #""result":{"methods":[1]}"#, #""result":null"#])
    func `one that answers nonsense harms nobody`(nonsense: String) throws {
        let server = ForeignServer { $0 == "rpc.hello" ? nil : nonsense }
        let feed = FeedProxy(server.client)
        #expect(server.loop.failure { try await feed.supports(.load) }?.code == .invalidReply)
    }
}

/// A JSON-RPC server that is not one of ours: a line in, a line out.
private final class ForeignServer: ByteReceiver {
    let loop = ManualLoop()
    private let answer: @Sendable (_ method: String) -> String?
    private let stream = Lock<MemoryChannel?>(nil)

    /// - Parameter answer: the member `result` of the reply; nil means that there is no such method.
    init(answer: @escaping @Sendable (_ method: String) -> String?) { self.answer = answer }

    var client: RPCClient {
        var configuration = RPCClient.Configuration()
        configuration.peer = .jsonRPC(.lines)
        let dialer = Dialer(loop: loop) { [self] done in
            let (near, far) = MemoryChannel.pair(on: loop)
            stream.withLock { $0 = far }
            loop.submit { [self] in
                far.open(self)
                done(.success(near))
            }
            return {}
        }
        return RPCClient(dialer, configuration, chance: { 1 })
    }

    func received(_ bytes: Bytes) {
        for line in bytes.description.split(separator: "\n") {
            // Lines come whole from our client, with the members in one order.
            guard let method = line.split(separator: #""method":""#).last?.split(separator: "\"").first,
                let id = line.split(separator: #","id":"#).last?.dropLast(), Int(id) != nil
            else { continue }
            let end = answer(String(method)) ?? #""error":{"code":-32601,"message":"what?"}"#
            let reply = Bytes(#"{"jsonrpc":"2.0","id":\#(id),\#(end)}"#)
            stream.withLock { $0 }?.loop.submit { [stream] in
                guard let stream = stream.withLock({ $0 }) else { return }
                reply.withUnsafeBytes { _ = stream.append($0, framing: .lines) }
                stream.flush()
            }
        }
    }

    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) {}
}
