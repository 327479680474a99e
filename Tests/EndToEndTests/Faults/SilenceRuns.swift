// Ends that fall silent: the way between the two passes nothing any more, or one of them is gone without a word.

import Faults
import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import TestSupport
import Testing

extension FaultRuns {
    /// Silence is questioned after the first and given up the second after that.
    private static let keepalive = Keepalive(interval: .milliseconds(200), timeout: .milliseconds(100))

    /// When it is found out at the latest: a tenth late, and as late as the machine is.
    private static func latest(_ late: Duration) -> Duration {
        (keepalive.interval + keepalive.timeout) * 11 / 10 + late + (isFull ? .zero : slack)
    }

    private static var earliest: Duration { (keepalive.interval + keepalive.timeout) * 9 / 10 }

    @Test func `silence is found out at both ends in time, and the calls go on when it is over`() async throws {
        for _ in 0..<Self.size(2, full: 20) { try await foundOut() }
    }

    private func foundOut() async throws {
        let (givenUp, giveUps) = AsyncStream.makeStream(of: Instant.self)
        var configuration = RPCServer.Configuration.quiet
        configuration.limits.keepalive = Self.keepalive
        configuration.log = { line in
            if line.message.contains("keepaliveTimeout") { giveUps.yield(MonotonicClock.now) }
        }
        let server = RPCServer(configuration)
        let watched = WatchedEcho()
        server.export(EchoProxy(watched))
        let proxy = try FaultProxy(to: try await server.listen(on: "tcp://127.0.0.1:0"))
        var eager = RPCClient.Configuration.eager
        eager.keepalive = Self.keepalive
        let client = RPCClient(proxy.url, eager)
        let lateness = Lateness()
        let call = Task { try await EchoProxy(client).later("held", afterMilliseconds: 0) }
        var begins = watched.events.makeAsyncIterator()
        #expect(await begins.next() == .began)
        // The last word between the two, and then nothing.
        let before = MonotonicClock.now
        #expect(try await EchoProxy(client).text("x") == "x")
        let states = client.states
        proxy.stall()
        let began = MonotonicClock.now
        _ = await states.first { $0 != .connected(resumed: false) }
        let clientsVerdict = MonotonicClock.now
        var verdicts = givenUp.makeAsyncIterator()
        let serversVerdict = await verdicts.next() ?? .distantFuture
        let late = lateness.stop()
        // Silence begins somewhere between those two moments.
        for verdict in [clientsVerdict, serversVerdict] {
            let (longest, shortest) = (before.duration(to: verdict), began.duration(to: verdict))
            #expect(longest > Self.earliest && shortest < Self.latest(late), "\(longest), machine \(late)")
        }
        let (atClient, atServer) = (began.duration(to: clientsVerdict), began.duration(to: serversVerdict))
        proxy.resume()
        watched.release()
        #expect(try await call.value == "held")
        #expect(watched.count == 1)
        print("silence found out by the client after \(atClient), by the server after \(atServer), machine \(late)")
        client.close()
        await server.stop(grace: .zero)
    }

    /// - Parameter isReal: the sockets are gone and their machine knows nothing of them, which it says when it is asked;
    ///   otherwise the way to them falls silent, and nobody says anything.
    @Test(arguments: [true, false])
    func `peers that vanish without a word are let go in time, and nobody else waits for them`(isReal: Bool)
        async throws
    {
        let configuration = { (configuration: inout RPCServer.Configuration) in
            configuration.limits.keepalive = Self.keepalive
        }
        let lateness = Lateness()
        try await withGate("tcp://127.0.0.1:0", configuration) { server, url in
            let first = MonotonicClock.now
            let neighbour = try RawClient(url)
            let proxy = try FaultProxy(to: url)
            let peers = try (0..<50).map { _ in try Self.greeted(isReal ? url : proxy.url) }
            // Else an optimized build closes them, and the way between, behind the last line that names them.
            defer { extendLifetime((peers, proxy)) }
            let began = MonotonicClock.now
            if isReal {
                // Root only.
                guard peers.allSatisfy({ $0.vanish() }) else { return }
            } else {
                proxy.stall()
            }
            // On a slow machine the first of them are asked before all are gone, and those have said nothing.
            let isAnybodyAsked = first.duration(to: MonotonicClock.now) >= Self.keepalive.interval
            var (id, slowest) = (0, Duration.zero)
            while server.counters.connectionsOpen > 1, began.duration(to: MonotonicClock.now) < .seconds(30) {
                id += 1
                let asked = MonotonicClock.now
                #expect(try brief(neighbour.ask(HandwrittenClient.next(id: id))) == "\(id)=\(id)")
                slowest = max(slowest, asked.duration(to: MonotonicClock.now))
            }
            let took = began.duration(to: MonotonicClock.now)
            let late = lateness.stop()
            print("50 peers vanished: let go after \(took), slowest of \(id) calls beside \(slowest), machine \(late)")
            #expect(took < Self.latest(late) && slowest < Self.slack + late)
            let silent = server.counters.overruns["keepaliveTimeout"]
            #expect(isReal ? silent == nil || isAnybodyAsked : silent == 50)
        }
    }

    private static func greeted(_ url: Endpoint) throws -> RawDescriptor {
        let end = try RawDescriptor.connected(to: url)
        _ = end.send(Array("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"rpc.hello\",\"params\":{}}\n".utf8)[...])
        guard case .bytes = end.receive() else { throw WireFault("no welcome") }
        return end
    }
}
