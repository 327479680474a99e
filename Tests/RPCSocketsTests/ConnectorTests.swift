import CSystem
import RPCWire
import TestSupport
import Testing

@testable import RPCSockets

@Suite(.waitsForOthers) struct ConnectorTests {
    /// A bound port on which nobody listens.
    private func deafSocket() throws -> (Socket, SocketEndpoint) {
        let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
        let socket = try Socket.make(for: address)
        #expect(address.withPointer { CSystem.bind(socket.descriptor, $0, $1) } == 0)
        return (socket, try #require(socket.localAddress?.endpoint))
    }

    @Test func `a refused connection says where and why`() async throws {
        try await withLoop { loop in
            let (socket, endpoint) = try deafSocket()
            let error = await #expect(throws: SetupError.self) {
                try await Connector.stream(to: endpoint, on: loop)
            }
            #expect(error?.description == "\(endpoint): connect: ECONNREFUSED (Connection refused)")
            socket.close()
        }
    }

    @Test func `a listener that never answers is given up after the timeout`() async throws {
        try await withLoop { loop in
            let path = temporaryPath("full")
            let address = try #require(SocketAddress(path: path))
            let listener = try Socket.make(for: address)
            #expect(address.withPointer { CSystem.bind(listener.descriptor, $0, $1) } == 0)
            #expect(listen(listener.descriptor, 0) == 0)
            defer { unlink(path) }
            // Nobody accepts: one connection fills the queue, the next waits.
            let first = try await Connector.stream(to: .unix(path: path), on: loop)
            let ends = Diary<String>()
            weak var attempt: Connector?
            attempt = Connector.connect(to: .unix(path: path), on: loop, timeout: .milliseconds(30)) { result in
                if case .failure(let error) = result { ends.note("\(error)") }
            }
            await until { ends.all.count == 1 }
            #expect(ends.all == ["unix://\(path): no connection within 0.03 seconds"])
            // It had been tried again and again.
            await until { attempt == nil }
            first.abort()
        }
    }

    @Test func `a name server that does not answer is named as the reason`() async throws {
        let diary = Diary<String>()
        try await withLoop { loop in
            await withCheckedContinuation { continuation in
                Connector.connect(
                    to: .tcp(host: "name.test", port: 1), on: loop, timeout: .milliseconds(30),
                    resolver: Resolver(atMost: 0)
                ) { result in
                    if case .failure(let error) = result { diary.note("\(error)") }
                    continuation.resume()
                }
            }
        }
        #expect(diary.all == ["tcp://name.test:1: the name could not be looked up within 0.03 seconds"])
    }

    @Test func `a connection under way can be cancelled, and completes once`() async throws {
        try await withLoop { loop in
            let (socket, endpoint) = try deafSocket()
            #expect(listen(socket.descriptor, 1) == 0)
            let diary = Diary<String>()
            await withCheckedContinuation { continuation in
                // On the loop, so that nothing can happen between the two.
                loop.submit {
                    let connector = Connector.connect(to: endpoint, on: loop, timeout: .seconds(5)) { result in
                        if case .failure(let error) = result { diary.note("\(error)") } else { diary.note("connected") }
                        continuation.resume()
                    }
                    connector.cancel()
                    connector.cancel()
                }
            }
            try await loop.perform {}
            #expect(diary.all == ["connecting was cancelled"])
        }
    }

    /// A port whose listener has a full queue, so that connecting takes for ever. The sockets keep it so.
    private func mutePort() throws -> (endpoint: SocketEndpoint, sockets: [Socket]) {
        let (listener, endpoint) = try deafSocket()
        #expect(listen(listener.descriptor, 0) == 0)
        let address = try #require(listener.localAddress)
        let fillers = try (0..<2).map { _ in
            let filler = try Socket.make(for: address)
            _ = address.withPointer { CSystem.connect(filler.descriptor, $0, $1) }
            return filler
        }
        return (endpoint, [listener] + fillers)
    }

    /// How many descriptors the loop watches.
    private func watched(by loop: EventLoop) async throws -> Int {
        try await loop.perform { loop.state.registrations.count }
    }

    @Test(arguments: ["out of time", "cancelled", "connected"])
    func `an attempt leaves no descriptor at the loop, and no timer that keeps it`(_ end: String) async throws {
        try await withLoop { loop in
            let (mute, sockets) = try mutePort()
            let server = try await EchoServer(on: .shared)
            let before = try await watched(by: loop)
            let timeout = end == "out of time" ? Duration.milliseconds(30) : .seconds(600)
            let ended = Diary<String>()
            weak var attempt: Connector?
            do {
                let connector = Connector.connect(
                    to: end == "connected" ? server.endpoint : mute, on: loop, timeout: timeout
                ) { result in
                    if case .success(let stream) = result { stream.abort() }
                    ended.note(end)
                }
                attempt = connector
                if end == "cancelled" {
                    try await until { try await watched(by: loop) == before + 1 }
                    connector.cancel()
                }
            }
            await until { ended.all.count == 1 }
            #expect(try await watched(by: loop) == before)
            #expect(attempt == nil)
            for socket in sockets { socket.close() }
            server.close()
        }
    }

    @Test func `an address that never answers leaves time for the next one of its name`() async throws {
        try await withLoop { loop in
            let (mute, sockets) = try mutePort()
            let server = try await EchoServer(on: .shared)
            let addresses = try [mute, server.endpoint].map { try #require(Resolver.literal($0)) }
            let before = try await watched(by: loop)
            let ended = Diary<String>()
            Connector.connect(
                to: .tcp(host: "name.test", port: 1), on: loop, timeout: .seconds(2),
                resolver: Resolver(atMost: 1) { _, _ in .success(addresses) }
            ) { result in
                if case .success(let stream) = result {
                    ended.note("\(stream.socket.remoteAddress?.endpoint == server.endpoint)")
                    stream.abort()
                } else {
                    ended.note("\(result)")
                }
            }
            await until { ended.all.count == 1 }
            #expect(ended.all == ["true"])
            #expect(try await watched(by: loop) == before)
            for socket in sockets { socket.close() }
            server.close()
        }
    }

    @Test func `a name that nobody has is an error with the name in it`() async throws {
        try await withLoop { loop in
            let error = await #expect(throws: SetupError.self) {
                try await Connector.stream(to: .tcp(host: "no-such-host.invalid", port: 1), on: loop)
            }
            #expect(error?.description.contains("no-such-host.invalid") == true)
        }
    }

    @Test func `connecting to a missing socket file fails at once`() async throws {
        try await withLoop { loop in
            let endpoint = SocketEndpoint.unix(path: temporaryPath("missing"))
            let error = await #expect(throws: SetupError.self) {
                try await Connector.stream(to: endpoint, on: loop)
            }
            #expect(error?.description.contains("ENOENT") == true)
        }
    }

    @Test func `a socket that has connected to itself is no connection`() async throws {
        try await withLoop { loop in
            // Clients that try again and again while the server is away meet this on ports that the system hands out.
            let (socket, endpoint) = try deafSocket()
            let address = try #require(socket.localAddress)
            try #require(socket.connect(to: endpoint))
            #expect(socket.localAddress?.endpoint == socket.remoteAddress?.endpoint)
            #expect(Connector.isConnectedToItself(socket))
            #expect(endpoint == address.endpoint)
        }
    }

    @Test func `nothing holds back what stays on this machine, whatever the system uses elsewhere`() async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: loop)
            let stream = try await Connector.stream(to: server.endpoint, on: loop)
            let receiver = RecordingReceiver(on: loop)
            stream.open(receiver)
            stream.send("here")
            try await receiver.wait { !$0.bytes.isEmpty }
            #expect((server.accepted + [stream]).map(\.socket.congestionControl) == ["reno", "reno"])
            let elsewhere = try Socket.make(for: #require(SocketAddress(numericHost: "192.0.2.1", port: 1)))
            #expect(elsewhere.congestionControl == Socket(descriptor: system_socket(AF_INET)).congestionControl)
            server.close()
        }
    }

    @Test func `descriptors are closed when another program is started`() throws {
        let (near, far) = try Socket.pair()
        #expect(near.isClosedOnExec && far.isClosedOnExec)
        #expect(try Socket.make(for: #require(SocketAddress(path: "/x"))).isClosedOnExec)
    }
}
