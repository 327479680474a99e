// What becomes of posts that are pending when a client closes or is let go, or when its server is lost, on a clock that is
// moved by hand.

import RPCSockets
import RPCWire
import TestSupport
import Testing

@testable import RemoteProxy

@Suite struct `Pending posts` {
    private let network = SimulatedNetwork()
    private let probe: RecordingProbe
    private let log = Lock<[String]>([])

    init() {
        probe = RecordingProbe(network.loop)
        network.exports.add(ProbeProxy(probe), named: nil)
    }

    /// What the log has, without the lines on connecting.
    private var lines: [String] { log.withLock { $0.filter { !$0.hasPrefix("cannot connect") } } }

    private func client(_ change: (inout RPCClient.Configuration) -> Void = { _ in }) -> RPCClient {
        network.client(configuration(change))
    }

    private func configuration(_ change: (inout RPCClient.Configuration) -> Void = { _ in }) -> RPCClient.Configuration
    {
        var configuration = RPCClient.Configuration()
        configuration.log = { [log] line in log.withLock { $0.append(line.message) } }
        change(&configuration)
        return configuration
    }

    /// On the loop, so that nobody else flushes.
    private func post(_ numbers: Range<Int>, through client: RPCClient) {
        let proxy = ProbeProxy(client)
        network.loop.pretend { for number in numbers { proxy.note(number) } }
    }

    // MARK: a client that closes

    @Test func `all arrive of a client that is closed before it has connected`() {
        let client = client()
        post(0..<10_000, through: client)
        client.close()
        network.loop.run()
        #expect(probe.noted == Array(0..<10_000))
        #expect(lines.isEmpty && client.requester.pendingPosts == 0 && network.sessions.count == 0)
        // Acknowledged, and not waited for.
        #expect(network.loop.now == Instant(nanoseconds: 0))
    }

    @Test func `all arrive of a client that is let go, and nothing of it stays`() {
        weak var requester: Requester?
        do {
            let client = client()
            requester = client.requester
            post(0..<100, through: client)
        }
        #expect(requester != nil)
        network.loop.run()
        #expect(probe.noted == Array(0..<100) && lines.isEmpty)
        network.loop.advance(by: .seconds(60))
        #expect(requester == nil)
    }

    @Test func `those that were sent are acknowledged before the connection ends, and calls end at once`() throws {
        let client = client()
        let proxy = ProbeProxy(client)
        #expect(try network.loop.complete { try await proxy.echo(1) } == 1)
        let call = StartedCall(on: network.loop) { try await proxy.wait(2, milliseconds: 60_000) }
        network.loop.run()
        post(0..<10, through: client)
        client.close()
        #expect(client.requester.pendingPosts == 10 && client.requester.pendingCalls == 0)
        network.loop.run()
        #expect(call.rpcError?.code == .closed && call.rpcError?.outcome == .unknown)
        #expect(probe.noted == Array(0..<10) && probe.cancelled == [2])
        #expect(lines.isEmpty && client.requester.pendingPosts == 0 && network.sessions.count == 0)
    }

    @Test func `with nobody at the address one line says how many are lost, and nothing stays`() {
        network.isServing = false
        weak var requester: Requester?
        do {
            let client = client()
            requester = client.requester
            post(0..<10_000, through: client)
        }
        network.loop.advance(by: .milliseconds(1_900))
        #expect(lines.isEmpty)
        network.loop.advance(by: .milliseconds(200))
        #expect(
            lines == [
                "10000 posts were not delivered: the client was closed, and 2.0 seconds of grace were not enough; "
                    + "the server is away"
            ])
        let dials = network.dials
        network.loop.advance(by: .seconds(60))
        #expect(network.dials == dials && requester == nil)
    }

    @Test func `a client that waits long for its next attempt makes one when it is closed`() throws {
        network.isServing = false
        let client = client { $0.reconnect = Backoff(initial: .seconds(10), maximum: .seconds(10)) }
        post(0..<3, through: client)
        network.loop.advance(by: .seconds(1))
        network.isServing = true
        client.close()
        network.loop.run()
        #expect(probe.noted == [0, 1, 2] && lines.isEmpty && network.dials == 2)
    }

    @Test func `a connection that breaks within the grace is made again`() throws {
        let client = client()
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        post(0..<50, through: client)
        client.close()
        network.loop.run()
        network.inject(WireFaults())
        network.cut()
        network.loop.advance(by: .milliseconds(500))
        #expect(probe.noted == Array(0..<50) && lines.isEmpty && client.requester.pendingPosts == 0)
    }

    @Test func `a closed client takes no more posts, and says so in a line for the first and one for the others`() {
        do {
            let client = client()
            client.close()
            post(0..<1_000, through: client)
            #expect(lines == ["the post Probe.note was not sent: the client was closed (-32053, notExecuted)"])
        }
        network.loop.run()
        #expect(lines.dropFirst() == ["999 posts were not sent either, for the reason that was logged with the first"])
    }

    // MARK: finishing

    @Test func `finishing says that all have arrived`() throws {
        let client = client()
        post(0..<1_000, through: client)
        #expect(try network.loop.complete { await client.close(grace: .seconds(2)) } == 0)
        #expect(probe.noted == Array(0..<1_000) && lines.isEmpty)
        #expect(try network.loop.complete { await client.close(grace: .seconds(2)) } == 0)
    }

    @Test func `finishing says how many are left when the grace is over`() throws {
        network.isServing = false
        let client = client { $0.postGrace = .seconds(4) }
        post(0..<7, through: client)
        client.close()
        #expect(try network.loop.complete { await client.close(grace: .seconds(3)) } == 7)
        #expect(network.loop.now == Instant(nanoseconds: 3_000_000_000))
        #expect(lines.count == 1)
        #expect(try network.loop.complete { await client.close(grace: .seconds(3)) } == 7)
    }

    @Test func `finishing counts those that may have been delivered and were not acknowledged`() throws {
        let client = client()
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        network.cut(.silence)
        post(0..<5, through: client)
        #expect(try network.loop.complete { await client.close(grace: .seconds(2)) } == 5)
        #expect(
            lines == [
                "5 posts that had been sent and not acknowledged may or may not have been delivered: the client was closed, "
                    + "and 2.0 seconds of grace were not enough"
            ])
    }

    @Test func `finishing with a server of another kind hands all to the connection`() throws {
        let foreign = ForeignServer()
        let dialer = Dialer(loop: network.loop) { [loop = network.loop] done in
            loop.submit {
                let (near, far) = MemoryChannel.pair(on: loop)
                foreign.serve(far)
                done(.success(near))
            }
            return {}
        }
        let client = RPCClient(dialer, configuration { $0.peer = .jsonRPC(.lines) }, chance: { 1 })
        post(0..<100, through: client)
        #expect(try network.loop.complete { await client.close(grace: .seconds(2)) } == 0)
        #expect(foreign.text.count(where: { $0 == "\n" }) >= 100)
        #expect(foreign.text.contains("[99]") && lines.isEmpty)
    }

    // MARK: a server that is lost

    @Test func `those that had left before the server died are told of in one line`() throws {
        let client = client()
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        var faults = WireFaults()
        faults.isHeld = true
        network.inject(faults)
        post(0..<100, through: client)
        network.loop.run()
        network.inject(WireFaults())
        network.restart()
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(2) } == 2)
        #expect(lines.count == 1 && probe.noted.count < 100)
        let beginning = "100 posts that had been sent and not acknowledged may or may not have been delivered: "
        #expect(lines.first?.hasPrefix(beginning) == true, "\(lines)")
        #expect(client.requester.pendingPosts == 0)
    }

    @Test func `those that a server had read before it stopped are no loss, and are not sent twice`() throws {
        let client = client()
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        post(0..<10, through: client)
        network.loop.run()
        #expect(client.requester.pendingPosts == 10)
        network.drain()
        network.loop.run()
        network.isServing = true
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(2) } == 2)
        #expect(probe.noted == Array(0..<10) && lines.isEmpty && client.requester.pendingPosts == 0)
    }

    @Test func `those that have waited too long are told of in one line, and others are sent`() {
        network.isServing = false
        let client = client { $0.timeout = .seconds(5) }
        post(0..<3, through: client)
        network.loop.advance(by: .seconds(4))
        post(3..<5, through: client)
        network.loop.advance(by: .milliseconds(1_500))
        network.isServing = true
        network.loop.advance(by: .seconds(2))
        #expect(probe.noted == [3, 4])
        #expect(lines.count == 1 && lines.first?.hasPrefix("3 posts were not delivered: ") == true, "\(lines)")
    }

    @Test func `however many are refused for want of room, there is a line for the first and one for the others`()
        throws
    {
        network.isServing = false
        let client = client { $0.limits.maximumPendingPostBytes = 1_000 }
        post(0..<1_000, through: client)
        #expect(lines.count == 1 && lines.first?.contains("maximumPendingPostBytes") == true)
        let kept = client.requester.pendingPosts
        network.isServing = true
        #expect(try network.loop.complete { try await ProbeProxy(client).echo(1) } == 1)
        post(1_000..<1_001, through: client)
        #expect(
            lines.dropFirst() == [
                "\(999 - kept) posts were not sent either, for the reason that was logged with the first"
            ])
    }
}

/// Reads lines, and refuses a hello.
private final class ForeignServer: ByteReceiver {
    private let read = Lock("")
    private let stream = Lock<(any ByteChannel)?>(nil)

    var text: String { read.withLock { $0 } }

    func serve(_ stream: any ByteChannel) {
        self.stream.withLock { $0 = stream }
        stream.loop.submit { stream.open(self) }
    }

    func received(_ bytes: Bytes) {
        read.withLock { $0 += bytes.description }
        guard bytes.description.contains("rpc.hello"), let stream = stream.withLock({ $0 }) else { return }
        var refusal = #"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no such method"}}"#
        refusal.withUTF8 { _ = stream.append(UnsafeRawBufferPointer($0), framing: .lines) }
        stream.flush()
    }

    func ended(_ end: ChannelEnd, sentUpTo sent: UInt64) { stream.withLock { $0 = nil } }
}
