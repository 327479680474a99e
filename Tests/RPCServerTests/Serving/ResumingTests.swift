// Sessions over real sockets: a server with several threads, and a client whose connections break.

import Protocols
import RPCServer
import RPCSockets
import RPCWire
import RemoteProxy
import Subjects
import TestSupport
import Testing

@Suite(.waitsForOthers) struct `Resuming over sockets` {
    /// Connects for real and can break what it has connected.
    private final class BreakingDialer: Sendable {
        /// One for each connection that was made.
        let connections: AsyncStream<Void>
        private let report: AsyncStream<Void>.Continuation
        private let streams = Lock<[any ByteChannel]>([])
        private let endpoint: SocketEndpoint
        private let wrap: @Sendable (any ByteChannel) -> any ByteChannel

        init(_ url: Endpoint, wrap: @escaping @Sendable (any ByteChannel) -> any ByteChannel = { $0 }) throws {
            self.wrap = wrap
            endpoint = try url.socket()
            (connections, report) = AsyncStream.makeStream()
        }

        var count: Int { streams.withLock { $0.count } }

        var dialer: Dialer {
            Dialer(loop: EventLoop.shared) { [self] done in
                let connector = Connector.connect(to: endpoint, on: .shared, timeout: .seconds(60)) { [self] result in
                    let result = result.map(wrap)
                    if case .success(let stream) = result {
                        streams.withLock { $0.append(stream) }
                        report.yield()
                    }
                    done(result)
                }
                return { connector.cancel() }
            }
        }

        func cut() { streams.withLock { $0.last }?.abort() }
    }

    private static func channel(_ inside: any ByteChannel, isSealed: Bool) -> any ByteChannel {
        isSealed ? SealedChannel(inside) : inside
    }

    @Test(arguments: [false, true])
    func `a call goes on while its connection moves from thread to thread`(isSealed: Bool) async throws {
        let held = HeldGreeter()
        var configuration = RPCServer.Configuration()
        configuration.threads = 4
        let server = RPCServer(configuration) { Self.channel($0, isSealed: isSealed) }
        server.export(GreeterProxy(held))
        let network = try BreakingDialer(try await server.listen(on: "tcp://127.0.0.1:0")) {
            Self.channel($0, isSealed: isSealed)
        }
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

    @Test(arguments: [false, true])
    func `under many callers a connection that breaks again and again loses nothing`(isSealed: Bool) async throws {
        var configuration = RPCServer.Configuration()
        configuration.threads = 4
        let server = RPCServer(configuration) { Self.channel($0, isSealed: isSealed) }
        let counter = SharedCounter()
        server.export(CounterProxy(counter))
        let network = try BreakingDialer(try await server.listen(on: "tcp://127.0.0.1:0")) {
            Self.channel($0, isSealed: isSealed)
        }
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
