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

    /// Where a connection to an endpoint leads when the resolver knows these addresses, and how long it takes.
    private func connect(
        to endpoint: SocketEndpoint = .tcp(host: "name.test", port: 1), at addresses: [SocketEndpoint],
        within timeout: Duration = .seconds(600), on loop: EventLoop
    ) async throws -> (place: Result<SocketEndpoint?, SetupError>, time: Duration) {
        let addresses = try addresses.map { try #require(Resolver.literal($0)) }
        let (start, before) = (loop.now, try await watched(by: loop))
        let result = try await handedOver { answer in
            Connector.connect(
                to: endpoint, on: loop, timeout: timeout,
                resolver: Resolver(atMost: 1) { _, _ in .success(addresses) }, completion: answer)
        }
        let time = start.duration(to: loop.now)
        let place = result.map { stream in
            defer { stream.abort() }
            return stream.socket.remoteAddress?.endpoint
        }
        #expect(try await watched(by: loop) == before)
        return (place, time)
    }

    @Test(arguments: [1, 3])
    func `an address that never answers holds up the next one for a quarter of a second`(_ mutes: Int) async throws {
        try await withLoop { loop in
            let (mute, sockets) = try mutePort()
            let server = try await EchoServer(on: .shared)
            var shortest = Duration.seconds(600)
            let most = Duration.milliseconds(250 * mutes + 50)
            // A machine that is busy may be late a few times.
            for _ in 0..<20 where shortest > most {
                let (place, time) = try await connect(
                    at: Array(repeating: mute, count: mutes) + [server.endpoint], on: loop)
                #expect(try place.get() == server.endpoint)
                #expect(time >= .milliseconds(250 * mutes))
                shortest = min(shortest, time)
            }
            #expect(shortest <= most)
            for socket in sockets { socket.close() }
            server.close()
        }
    }

    @Test func `an attempt goes on when the next one has failed`() async throws {
        try await withLoop { loop in
            let (mute, sockets) = try mutePort()
            let (deaf, refusing) = try deafSocket()
            // On a busy machine a short time is not enough to look the name up.
            for time in [Duration.milliseconds(30), .milliseconds(300), .seconds(3), .seconds(30)] {
                let (place, _) = try await connect(at: [mute, refusing], within: time, on: loop)
                guard case .failure(let error) = place, !error.description.contains("looked up") else { continue }
                #expect(error.description == "tcp://name.test:1: no connection within \(time)")
                break
            }
            for socket in sockets + [deaf] { socket.close() }
        }
    }

    @Test func `with little time, each address still has its share of it`() async throws {
        try await withLoop { loop in
            let (mute, sockets) = try mutePort()
            let server = try await EchoServer(on: .shared)
            let addresses = Array(repeating: mute, count: 19) + [server.endpoint]
            let (place, _) = try await connect(at: addresses, within: .seconds(2), on: loop)
            #expect(try place.get() == server.endpoint)
            for socket in sockets { socket.close() }
            server.close()
        }
    }

    /// No connection of TCP leads to a group: the system says that it cannot be reached.
    private let outOfReach = SocketEndpoint.tcp(host: "224.0.0.1", port: 1)

    @Test func `an address that fails at once holds up nothing`() async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: .shared)
            var shortest = Duration.seconds(600)
            for _ in 0..<20 where shortest >= .milliseconds(100) {
                let (place, time) = try await connect(at: [outOfReach, server.endpoint], on: loop)
                #expect(try place.get() == server.endpoint)
                shortest = min(shortest, time)
            }
            #expect(shortest < .milliseconds(100))
            server.close()
        }
    }

    @Test func `an IPv4 literal that is out of reach is looked up as a name is`() async throws {
        try await withLoop { loop in
            let server = try await EchoServer(on: .shared)
            let (place, _) = try await connect(to: outOfReach, at: [server.endpoint], on: loop)
            #expect(try place.get() == server.endpoint)
            server.close()
        }
    }

    @Test func `a literal is looked up once, and only if it is out of reach`() async throws {
        try await withLoop { loop in
            let (deaf, refusing) = try deafSocket()
            for (endpoint, found, reason) in [
                (outOfReach, [outOfReach], "connect: ENETUNREACH (Network is unreachable)"),
                (outOfReach, [], "connect: ENETUNREACH (Network is unreachable)"),
                (refusing, [refusing], "connect: ECONNREFUSED (Connection refused)"),
            ] {
                let lookUps = Diary<String>()
                let addresses = try found.map { try #require(Resolver.literal($0)) }
                let result = try await handedOver { answer in
                    Connector.connect(
                        to: endpoint, on: loop, timeout: .seconds(600),
                        resolver: Resolver(atMost: 1) { host, _ in
                            lookUps.note(host)
                            return .success(addresses)
                        }, completion: answer)
                }
                #expect(throws: SetupError("\(endpoint): \(reason)")) { try result.get() }
                #expect(lookUps.all == (endpoint == outOfReach ? ["224.0.0.1"] : []))
            }
            deaf.close()
        }
    }

    @Test func `the families take turns, and the first address stays the first`() throws {
        func order(_ hosts: String) throws -> String {
            let addresses = try hosts.split(separator: " ").map {
                try #require(SocketAddress(numericHost: String($0), port: 1))
            }
            return SocketAddress.familiesInTurn(addresses).map {
                if case .tcp(let host, _) = $0.endpoint { host } else { "?" }
            }.joined(separator: " ")
        }
        #expect(try order("") == "")
        #expect(try order("::1 ::2 ::3 10.0.0.1 10.0.0.2") == "::1 10.0.0.1 ::2 10.0.0.2 ::3")
        #expect(try order("10.0.0.1 ::1 ::2 ::3") == "10.0.0.1 ::1 ::2 ::3")
        #expect(try order("10.0.0.1 10.0.0.2 ::1") == "10.0.0.1 ::1 10.0.0.2")
        #expect(try order("::1 ::2") == "::1 ::2")
    }

    @Test func `a socket file whose path is too long is an error with its length and the limit`() async throws {
        try await withLoop { loop in
            let endpoint = SocketEndpoint.unix(path: "/" + String(repeating: "x", count: 200))
            let reason =
                "\(endpoint) has a path of 201 bytes; at most 107 fit"
            await #expect(throws: SetupError(reason)) { try await Connector.stream(to: endpoint, on: loop) }
            await #expect(throws: SetupError(reason)) {
                try await Listener.listen(on: endpoint, loop: loop) { _, _ in }
            }
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
