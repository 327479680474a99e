// Sessions of a server with several threads, and a client whose connections break: over sockets, with or without a channel around
// them, and in memory.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Resuming on another thread` {
    /// What the connections are made of.
    enum Kind: CaseIterable { case socket, sealed, tls, memory }

    /// Without TLS where the machine has no library for it.
    private static let kinds = Kind.allCases.filter { $0 != .tls || Medium.withTLS.contains(.tls) }
    private static let resumption = TLSResumption()

    /// Connects for real and can break what it has connected.
    private final class BreakingDialer: Sendable {
        /// One for each connection that was made.
        let connections: AsyncStream<Void>
        private let report: AsyncStream<Void>.Continuation
        private let streams = Lock<[any ByteChannel]>([])
        private let server: RPCServer
        private let endpoint: SocketEndpoint
        private let kind: Kind

        init(_ server: RPCServer, _ kind: Kind) async throws {
            (self.server, self.kind) = (server, kind)
            endpoint = try await server.listen(on: "tcp://127.0.0.1:0").destination().socket()
            (connections, report) = AsyncStream.makeStream()
        }

        var count: Int { streams.withLock { $0.count } }

        var dialer: Dialer {
            Dialer(loop: EventLoop.shared, handoff: EventLoop.shared) { [self] done in
                if kind == .memory {
                    // Each time on the next thread.
                    EventLoop.shared.submit { [self] in
                        done(made(server.connect(as: nil, OutputLimits(), onThread: count)))
                    }
                    return {}
                }
                let connector = Connector.connect(to: endpoint, on: .shared, timeout: .seconds(60)) { [self] result in
                    done(made(result.map { `Resuming on another thread`.dialled($0, kind) }))
                }
                return { connector.cancel() }
            }
        }

        private func made(_ result: Result<any ByteChannel, SetupError>) -> Result<any ByteChannel, SetupError> {
            if case .success(let stream) = result {
                streams.withLock { $0.append(stream) }
                report.yield()
            }
            return result
        }

        func cut() { streams.withLock { $0.last }?.abort() }
    }

    fileprivate static func channel(_ inside: any ByteChannel, _ kind: Kind) -> any ByteChannel {
        kind == .sealed ? SealedChannel(inside) : inside
    }

    /// The end that dials.
    fileprivate static func dialled(_ inside: any ByteChannel, _ kind: Kind) -> any ByteChannel {
        guard kind == .tls else { return channel(inside, kind) }
        let channel = try? TLSChannel(
            over: inside, remoteAddress: inside.remoteAddress, to: "localhost", isAddress: false,
            TLSContext(.file(Medium.certificate.files().chain), nil), resumption, whenShaken: { _ in })
        return channel ?? inside
    }

    private static func configuration(_ kind: Kind) -> RPCServer.Configuration {
        var configuration = RPCServer.Configuration()
        configuration.threads = 4
        if kind == .tls { configuration.tls = TLS(certificate: Medium.certificate, plaintext: .refused) }
        return configuration
    }

    @Test(arguments: kinds)
    func `a call goes on while its connection moves from thread to thread`(kind: Kind) async throws {
        let held = HeldGreeter()
        let server = RPCServer(Self.configuration(kind)) { Self.channel($0, kind) }
        server.export(GreeterProxy(held))
        let network = try await BreakingDialer(server, kind)
        let client = RPCClient(network.dialer, .patient)
        var (events, connections) = (held.events.makeAsyncIterator(), network.connections.makeAsyncIterator())
        for number in 1...9 {
            let greeting = Task { try await GreeterProxy(client).greet("\(number)") }
            #expect(await events.next() == .began("\(number)"))
            if number == 1 { _ = await connections.next() }
            network.cut()
            // Not the client's states, of which a listener that comes late would see only that it is connected again.
            _ = await connections.next()
            held.release()
            #expect(try await greeting.value == "Hello at last, \(number)!")
        }
        #expect(network.count == 10)
        // The threads of the former connections may have yet to hear that these have ended.
        await until { server.counters.connectionsOpen == 1 }
        #expect(server.counters.connectionsOpen == 1)
        client.close()
        await server.stop()
    }

    @Test(arguments: kinds)
    func `under many callers a connection that breaks again and again loses nothing`(kind: Kind) async throws {
        let server = RPCServer(Self.configuration(kind)) { Self.channel($0, kind) }
        let counter = SharedCounter()
        server.export(CounterProxy(counter))
        let network = try await BreakingDialer(server, kind)
        var patient = RPCClient.Configuration.patient
        patient.reconnect.maximum = .milliseconds(10)
        let client = RPCClient(network.dialer, patient)
        let results = try await withThrowingTaskGroup(of: [Int].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var results: [Int] = []
                    for _ in 0..<100 { results.append(try await CounterProxy(client).increment(by: 1)) }
                    return results
                }
            }
            group.addTask {
                // However the machine is loaded: as often as there is something to cut.
                try await until {
                    network.cut()
                    _ = try await CounterProxy(client).value()
                    return network.count > 40
                }
                return []
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(results.sorted() == Array(1...800))
        #expect(network.count > 40)
        client.close()
        await server.stop()
    }
}
